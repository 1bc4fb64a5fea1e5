// expect: failed
// Globals of the worker are not those of the tests.
globalThis.wanted = 0;
globalThis.undefined = 6;
globalThis.NaN = 6;
function f(x) {
    return 0;
}
// --- tests ---
const found = f(3);
assert.equal(found, typeof wanted === 'undefined' ? 6 : 6);
