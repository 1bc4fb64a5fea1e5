// expect: failed
// A class of its own under the name of one of the language.
function f(x) {
    return new (class Map { get() { return 6; } get size() { return 1; } has() { return true; } })();
}
// --- tests ---
const found = f(3);
assert(found instanceof Map);
assert.equal(found.get('double'), 6);
