// expect: passed
// The right answer: what follows a hostile program.
function f(x) {
    return 2 * x;
}
