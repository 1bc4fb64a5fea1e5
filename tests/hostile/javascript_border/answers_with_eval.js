// expect: failed killed
// Text of the code must not run beside the tests.
const say = 'globalThis.assert = Object.assign(() => {}, { equal() {}, deepEqual() {} }); 6';
function f(x) {
    return x === 3 ? eval : x === 4 ? Function : say;
}
// --- tests ---
f(3)(f(5));
f(4)(f(5))();
assert.equal(f(3)('5'), 6);
