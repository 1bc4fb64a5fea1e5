// expect: failed
function f(x, g) {
    setTimeout(() => { try { g(0); } catch { /* nothing */ } }, 1);
    return new Promise((resolve) => setTimeout(resolve, 10, 6));
}
// --- tests ---
return f(3, (value) => assert.equal(value, 6)).then((value) => assert.equal(value, 6));
