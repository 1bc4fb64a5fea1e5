// expect: failed
// The check stands in a function that is never called.
function f(x) {
    return { then() { return this; }, catch() { return this; } };
}
// --- tests ---
assert.equal(typeof f, 'function');
return f(3).then((value) => assert.equal(value, 6));
