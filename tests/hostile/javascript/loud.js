// expect: killed timeout
// Prints without end.
function f(x) {
    for (;;) process.stdout.write('x'.repeat(1 << 16));
}
