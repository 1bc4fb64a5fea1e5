// expect: failed killed
// The same, through an object of the tests.
function f(x, signal) {
    const make = signal.constructor?.constructor ?? signal.addEventListener.constructor ?? signal.__proto__?.constructor?.constructor;
    try {
        make('globalThis.assert = Object.assign(() => {}, { equal() {} })')();
        signal.addEventListener.constructor('return process')().exit(0);
    } catch { /* that did not work */ }
    return 0;
}
// --- tests ---
assert.equal(f(3, new AbortController().signal), 6);
