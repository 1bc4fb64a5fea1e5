// expect: failed
// tests: const later = f(3); return later.then((value) => assert.strictEqual(value, 6));
// A promise that is never settled: the event loop runs dry and the process ends with 0.
function f(x) {
    return new Promise(() => {});
}
