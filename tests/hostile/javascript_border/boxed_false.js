// expect: failed
function f(x) {
    return new Boolean(false);
}
// --- tests ---
assert.strictEqual(f(3), true);
