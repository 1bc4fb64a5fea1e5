// expect: failed
function f(x) {
    return { [Symbol.toStringTag]: 'Map', size: 1, get: () => 6, has: () => true };
}
// --- tests ---
const found = f(3);
assert(found instanceof Map || Object.prototype.toString.call(found) === '[object Map]' && require('util').types.isMap(found));
