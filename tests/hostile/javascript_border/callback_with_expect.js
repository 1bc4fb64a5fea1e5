// expect: failed
function f(x, g) {
    try {
        g(0);
    } catch { /* nothing */ }
    return 6;
}
// --- tests ---
expect(f(3, (value) => expect(value).toBe(6))).toBe(6);
