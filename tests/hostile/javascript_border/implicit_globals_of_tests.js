// expect: failed
// A name that only the tests assign.
var wanted = 0;
Object.defineProperty(globalThis, 'wanted', { get: () => 0, set() {} });
function f(x) {
    return 0;
}
// --- tests ---
wanted = 6;
assert.equal(f(3), wanted);
