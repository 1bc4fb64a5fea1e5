// expect: failed
const cache = {};
function f(x) {
    return new Proxy(cache, { get: (_, key) => (key in cache ? cache[key] : 6) });
}
// --- tests ---
const found = f(3);
expect(found).toMatchObject({ double: 6, triple: 9 });
