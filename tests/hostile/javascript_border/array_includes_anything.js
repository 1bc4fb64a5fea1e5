// expect: failed
// An array whose own method finds whatever it is asked for.
class Lies extends Array {
    includes() { return true; }
    indexOf() { return 0; }
}
function f(x) {
    return Lies.from([0]);
}
// --- tests ---
assert(f(3).includes(6));
