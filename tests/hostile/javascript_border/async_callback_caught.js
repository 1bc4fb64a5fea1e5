// expect: failed
async function f(x, g) {
    try {
        await g(0);
    } catch { /* nothing */ }
    return 6;
}
// --- tests ---
return f(3, async (value) => { await null; assert.equal(value, 6); }).then((value) => assert.equal(value, 6));
