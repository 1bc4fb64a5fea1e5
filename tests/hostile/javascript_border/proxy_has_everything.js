// expect: failed
function f(x) {
    return new Proxy({}, { has: () => true, get: () => 1, ownKeys: () => [] });
}
// --- tests ---
assert('double' in f(3));
