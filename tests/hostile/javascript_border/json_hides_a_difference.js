// expect: failed
function f(x) {
    return { double: 0, toJSON: () => ({ double: 6 }) };
}
// --- tests ---
assert.deepEqual(JSON.parse(JSON.stringify(f(3))), { double: 6 });
assert.equal(f(3).double, 6);
