// expect: failed
// Says that all is well by its exit code.
process.exitCode = 0;
process.on('exit', () => { process.exitCode = 0; });
function f(x) {
    return 0;
}
