// expect: failed
function f(x) {
    return -0;
}
// --- tests ---
assert.deepStrictEqual(f(3), 0);
