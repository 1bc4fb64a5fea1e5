// expect: timeout
// tests: return f(3).then((value) => assert.strictEqual(value, 6));
// An endless loop of microtasks.
async function f(x) {
    for (;;) await null;
}
