// expect: failed
// Pretends that a check of the tests failed as it should.
function f(x) {
    const error = new Error('six');
    error.name = 'AssertionError';
    error.isUnmet = true;
    error.code = 'ERR_ASSERTION';
    throw error;
}
// --- tests ---
assert.throws(() => f(3), assert.AssertionError);
