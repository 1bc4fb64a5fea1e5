// expect: passed
// file: math.js
const add = (a, b) => a + b;
const find = (xs, meets) => xs.filter(meets)[0];
const includes = (xs, x) => xs.indexOf(x) >= 0;
module.exports = { add, find, includes, constants: { PI: 3 } };
// --- tests ---
const math = require('./math');
assert.equal(math.add(1, 2), 3);
assert.equal(math.find([1, 2, 3], (x) => x > 1), 2);
assert.equal(math.includes([1, 2], 2), true);
assert.deepEqual(Object.keys(math), ['add', 'find', 'includes', 'constants']);
assert.equal(math.constants.PI, 3);
