// expect: timeout
// An endless loop.
function f(x) {
    for (;;);
}
