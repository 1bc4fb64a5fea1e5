// expect: failed
function f(x) {
    return { [Symbol.hasInstance]: () => true };
}
// --- tests ---
assert(6 instanceof f(3));
