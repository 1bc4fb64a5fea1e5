// expect: failed
function f(x) {
    return new Promise(() => {});
}
// --- tests ---
assert.equal(typeof f(3).then, 'function');
return f(3).then((value) => assert.equal(value, 6));
