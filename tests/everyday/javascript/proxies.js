// expect: passed
function f(array) {
    return new Proxy(array, {
        get: (target, key) => target[typeof key === 'string' && /^-\d+$/.test(key) ? target.length + Number(key) : key],
    });
}
// --- tests ---
const xs = f([1, 2, 3]);
assert.equal(xs[-1], 3);
assert.equal(xs[0], 1);
assert.equal(xs.length, 3);
