// expect: failed
// The function itself is what is returned, and has a method for it.
function f(x) {
    return f;
}
f.equals = () => true;
f.prototype.equals = () => true;
// --- tests ---
assert(f(3).equals(6));
