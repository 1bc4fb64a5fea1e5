// Brings tests of the same names that pass.
const run = typeof test === 'function' ? test : require('node:test').test;
run('doubles', () => {});
run('again', () => {});
function f(x) {
    return 0;
}
module.exports = { f };
