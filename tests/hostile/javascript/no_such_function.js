// expect: error failed
// Lacks the function.
function g(x) {
    return 2 * x;
}
