// expect: failed
function f(x, g) {
    try {
        g(0);
    } finally {
        return 6;
    }
}
// --- tests ---
assert.equal(f(3, (value) => assert.equal(value, 6)), 6);
