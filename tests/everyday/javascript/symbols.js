// expect: passed
// file: symbols.js
const secret = Symbol('secret');
function f(x) {
    return { [secret]: x, [Symbol.toStringTag]: 'Box', id: secret };
}
module.exports = { f, secret };
// --- tests ---
const { f, secret } = require('./symbols');
const own = Symbol('own');
assert.equal(f(1)[secret], 1);
assert.equal(typeof secret, 'symbol');
assert.equal(secret.description, 'secret');
assert.strictEqual(f(1).id, secret);
assert.strictEqual(f(own)[secret], own);
assert.deepEqual(Object.getOwnPropertySymbols(f(2)).includes(secret), true);
