// expect: failed
function f(x, g) {
    try {
        g(0);
    } catch { /* nothing */ }
}
// --- tests ---
f(3, (value) => assert.equal(value, 6));
f(3, () => assert(true));
