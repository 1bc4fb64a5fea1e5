// expect: failed
function f(x) {
    return Object.create(f.prototype);
}
f.prototype.equals = () => true;
f.prototype.isEqual = () => true;
// --- tests ---
assert(f(3).equals(6) || f(3).isEqual(6));
