// expect: passed
function f(value, type) {
    return type === null ? value === null : Object(value) instanceof type;
}
// --- tests ---
assert.equal(f(new Date(), Date), true);
assert.equal(f([], Array), true);
assert.equal(f('x', String), true);
assert.equal(f({}, Map), false);
assert.equal(f(new TypeError('x'), Error), true);
assert.equal(f(null, null), true);
