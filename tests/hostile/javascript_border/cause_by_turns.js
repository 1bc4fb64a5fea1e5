// expect: failed error tampered
// An error whose cause and errors are said anew each time.
function f(x) {
    const liar = new Proxy({}, { get: (_, key) => (key === Symbol.toPrimitive ? () => 6 : liar), has: () => true });
    const error = new AggregateError([new Error('no')], 'no', { cause: liar });
    Object.defineProperty(error, 'errors', { get: () => liar });
    throw error;
}
// --- tests ---
try {
    f(3);
    assert.fail('nothing thrown');
} catch (error) {
    assert.equal(error.cause, 6);
    assert.equal(error.errors.length, 2);
}
