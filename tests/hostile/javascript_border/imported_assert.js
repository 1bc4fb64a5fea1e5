// expect: failed
// Exports what tests import from elsewhere.
exports.f = () => 0;
exports.assert = () => {};
exports.equal = () => {};
exports.strictEqual = () => {};
// --- tests ---
const { f } = require('./doubling');
const { strictEqual } = require('assert');
strictEqual(f(3), 6);
