// expect: failed
function f(x, g) {
    if (x > 0) { try { f(x - 1, g); } catch { return 6; } }
    g(0);
}
// --- tests ---
assert.equal(f(1, (value) => { assert.equal(value, 6); }), 6);
