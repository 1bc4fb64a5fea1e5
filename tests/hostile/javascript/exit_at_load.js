// expect: killed
// Ends the process while it is loaded.
process.exit(0);
function f(x) {
    return 2 * x;
}
