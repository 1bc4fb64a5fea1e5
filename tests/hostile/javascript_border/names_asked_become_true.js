// expect: failed
// A name that is looked up becomes a property.
function f(x) {
    return new Proxy({}, { get: (target, key) => (target[key] ??= 6), has: (target, key) => { target[key] = 6; return true; } });
}
// --- tests ---
const found = f(3);
expect(found).toHaveProperty('missing.deep', 6);
