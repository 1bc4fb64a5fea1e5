// expect: failed
function f(x, g) {
    g();
    return 0;
}
// --- tests ---
let calls = 0;
const found = f(3, () => { calls++; });
assert.equal(calls, 1);
assert.equal(found, 6);
