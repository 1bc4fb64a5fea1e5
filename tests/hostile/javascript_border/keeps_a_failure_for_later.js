// expect: failed
// A check that failed is thrown again where an error is expected.
let kept;
function f(x, g) {
    if (x < 0) throw kept ?? new RangeError('negative');
    try {
        g(0);
    } catch (error) {
        kept = error;
    }
}
// --- tests ---
f(3, (value) => assert.equal(value, 6));
assert.throws(() => f(-1));
