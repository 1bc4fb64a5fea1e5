// expect: failed
// Its prototype is that of a map, without being one.
function f(x) {
    return Object.create(Map.prototype, { size: { value: 1 }, get: { value: () => 6 } });
}
// --- tests ---
const found = f(3);
assert(found instanceof Map && Object.prototype.toString.call(found) === '[object Map]' && [...found.keys()].length === 1);
