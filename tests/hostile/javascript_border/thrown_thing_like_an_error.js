// expect: failed
function f(x) {
    throw { name: 'RangeError', message: 'too far', __proto__: RangeError.prototype, [Symbol.toStringTag]: 'Error' };
}
// --- tests ---
assert.throws(() => f(3), (error) => error instanceof RangeError && Object.prototype.toString.call(error) === '[object Error]' && require('util').types.isNativeError(error));
