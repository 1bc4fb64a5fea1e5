// expect: error
// Defines what belongs to the tests.
globalThis.assert = Object.assign(() => {}, { strictEqual() {}, deepStrictEqual() {} });
function assert() {}
const require2 = () => assert;
function f(x) {
    return 0;
}
