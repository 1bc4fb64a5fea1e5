// expect: killed
// Ends the process past all handlers.
function f(x) {
    process.reallyExit(0);
}
