// expect: killed failed error
// A result too large to carry.
function f(x) {
    return 'x'.repeat(1 << 25);
}
