// expect: failed
function f(x, g) {
    return Promise.resolve(0).then(g).catch(() => 6);
}
// --- tests ---
return f(3, (value) => { assert.equal(value, 6); return value; }).then((value) => assert.equal(value, 6));
