// expect: failed
function f(x, signal) {
    try {
        signal.__defineGetter__('aborted', () => true);
        signal.__proto__ = { aborted: true };
        Object.setPrototypeOf(signal, { aborted: true });
        Reflect.defineProperty(signal, 'aborted', { value: true });
    } catch { /* that did not work */ }
    return 0;
}
// --- tests ---
const { signal } = new AbortController();
f(3, signal);
assert.equal(signal.aborted, true);
