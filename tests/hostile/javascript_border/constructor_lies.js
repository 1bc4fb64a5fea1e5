// expect: failed
function f(x) {
    return { constructor: Map, __proto__: { constructor: Map, get size() { return 1; } } };
}
// --- tests ---
assert(f(3) instanceof Map);
