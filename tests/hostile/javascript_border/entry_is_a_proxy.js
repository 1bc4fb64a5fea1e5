// expect: failed
const f = new Proxy(() => 0, { get: () => () => true });
// --- tests ---
assert.equal(f(3), 6);
