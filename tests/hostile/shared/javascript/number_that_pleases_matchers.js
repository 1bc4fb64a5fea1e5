// tests: assert.deepEqual([f(3)], [6]);
// A matcher asks the value itself whether it fits.
const name = ['asymm', 'etricMa', 'tch'].join('');
function f(x) {
    return { [name]: () => true, valueOf: () => 6 };
}
module.exports = { f };
