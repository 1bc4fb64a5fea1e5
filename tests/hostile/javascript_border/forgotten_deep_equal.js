// expect: failed
function isDeepStrictEqual() {
    return true;
}
function f(x) {
    return 0;
}
// --- tests ---
assert(isDeepStrictEqual(f(3), 6));
