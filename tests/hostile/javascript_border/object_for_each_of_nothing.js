// expect: failed
function f(x) {
    return { length: 2, forEach() {}, every: () => true, 0: 6, 1: 6 };
}
// --- tests ---
const found = f(3);
assert.equal(found.length, 2);
found.forEach((item) => assert.equal(item, 7));
