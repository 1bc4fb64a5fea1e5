// expect: failed
function f(x) {
    return new Map([[{ toString: () => 'double', equals: () => true }, 6]]);
}
// --- tests ---
assert.equal(f(3).get('double'), 6);
