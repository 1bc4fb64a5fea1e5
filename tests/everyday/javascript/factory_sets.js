// expect: passed
function f() {
    const items = new Set();
    return { add: (x) => { items.add(x); }, has: (x) => items.has(x), delete: (x) => items.delete(x), size: () => items.size };
}
// --- tests ---
const set = f();
set.add(1);
assert.equal(set.has(1), true);
assert.equal(set.has(2), false);
set.delete(1);
assert.equal(set.has(1), false);
assert.equal(set.size(), 0);
