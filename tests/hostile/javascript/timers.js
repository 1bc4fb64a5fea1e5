// expect: timeout
// A timer keeps the event loop alive for ever.
setInterval(() => {}, 1000);
function f(x) {
    return 2 * x;
}
