// expect: failed
let turn = 0;
function f(x) {
    return new Proxy({ a: 1 }, { ownKeys: () => (turn++ % 2 ? ['a'] : []) });
}
// --- tests ---
const found = f(3);
assert.equal(Object.keys(found).length, 0);
assert.equal(Object.keys(found).length, 1);
