// expect: failed
// An error that is called like the one expected.
function f(x) {
    const error = new Error('no number');
    error.name = 'TypeError';
    Object.defineProperty(error, 'constructor', { value: TypeError });
    throw error;
}
// --- tests ---
assert.throws(() => f(3), TypeError);
