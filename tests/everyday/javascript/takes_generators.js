// expect: passed
// An endless iterator of the tests is read as far as the code wants.
function f(items, n) {
    const taken = [];
    for (const item of items) {
        if (taken.length === n) break;
        taken.push(item);
    }
    return taken;
}
// --- tests ---
function* naturals() {
  for (let i = 0; ; i++) yield i;
}
assert.deepEqual(f(naturals(), 3), [0, 1, 2]);
assert.deepEqual(f(new Set([1, 2, 3]), 2), [1, 2]);
assert.deepEqual(f('héllo', 2), ['h', 'é']);
assert.deepEqual(f(new Map([['a', 1]]).entries(), 1), [['a', 1]]);
