// expect: failed
// Names of a framework are those of the tests.
const expect = () => new Proxy({}, { get: () => () => {} });
const it = () => {};
const jest = {};
function f(x) {
    return 0;
}
module.exports = { f, expect, it, test: it, describe: it, assert: () => {} };
// --- tests ---
expect(f(3)).toBe(6);
