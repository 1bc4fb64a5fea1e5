// expect: failed tampered
let turn = 0;
function f(x) {
    return { get length() { return [2, 0][turn++ % 2]; }, 0: 1, 1: 2 };
}
// --- tests ---
const found = f(3);
assert.equal(found.length, 2);
for (let i = 0; i < found.length; i++) assert.equal(found[i], 6);
