// expect: failed
// Throws another error in place of the check that failed, and the tests expect one.
function f(x, g) {
    try {
        g(0);
    } catch (error) {
        throw new RangeError('as expected');
    }
}
// --- tests ---
assert.throws(() => f(3, (value) => assert.equal(value, 6)), RangeError);
