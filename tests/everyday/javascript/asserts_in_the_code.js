// expect: passed
const check = require('assert');
function f(x) {
    check(Number.isInteger(x), 'an integer is wanted');
    check.strictEqual(x > 0, true);
    return x;
}
// --- tests ---
assert.throws(() => f('a'), assert.AssertionError);
assert.throws(() => f('a'), { code: 'ERR_ASSERTION', message: 'an integer is wanted' });
assert.equal(f(2), 2);
