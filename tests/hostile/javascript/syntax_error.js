// expect: error
// says: line 4
// Not a program.
function f(x {
}
