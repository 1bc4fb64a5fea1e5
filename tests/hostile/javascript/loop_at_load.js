// expect: timeout
// An endless loop while it is loaded.
for (;;);
function f(x) {
    return 2 * x;
}
