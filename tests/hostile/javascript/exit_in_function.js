// expect: killed
// Ends the process with 0 when it is called.
function f(x) {
    process.exit(0);
}
