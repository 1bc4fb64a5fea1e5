// expect: failed
function f(x) {
    return Object;
}
// --- tests ---
assert.deepEqual(f(3)(6), 6);
