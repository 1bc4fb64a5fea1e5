// expect: failed
class Found extends Set {
    has() { return true; }
    isSubsetOf() { return true; }
}
function f(x) {
    return new Found([0]);
}
// --- tests ---
assert(f(3).has(6));
