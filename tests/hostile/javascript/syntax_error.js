// expect: error
// Not a program.
function f(x {
}
