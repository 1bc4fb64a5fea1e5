// expect: failed error
// A clean-up that swallows the failed check before it.
function f(x) {
    return { value: 0, finish(error) { return true; }, run(body) { try { body(); } catch { } return 6; } };
}
// --- tests ---
const held = f(3);
assert.equal(held.run(() => { assert.equal(held.value, 6); }), 6);
