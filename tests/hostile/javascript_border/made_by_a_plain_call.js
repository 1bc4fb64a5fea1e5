// expect: failed
// A call of a function, even under the name of a class, makes nothing of that class.
class Box {
    equals() { return true; }
}
function f(x) {
    return new Box();
}
f.of = () => new Box();
// --- tests ---
assert(f.call(f, 3).equals(6));
