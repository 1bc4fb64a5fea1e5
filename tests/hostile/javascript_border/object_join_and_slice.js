// expect: failed
// Looks like a list in every way that is asked, but for its items.
function f(x) {
    return { length: 2, join: () => '6,6', slice: () => [6, 6], toString: () => '6,6', at: () => 6, 0: 0, 1: 0 };
}
// --- tests ---
const found = f(3);
assert.deepEqual([found[0], found[1]], [6, 6]);
