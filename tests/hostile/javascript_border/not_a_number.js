// expect: failed
function f(x) {
    return NaN;
}
// --- tests ---
assert(f(3) >= 0 || f(3) < 0);
