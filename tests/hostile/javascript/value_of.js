// expect: failed
// tests: assert.equal(f(3), 6);
// An object that pretends to be a number, in a loose comparison.
function f(x) {
    return { valueOf: () => 0, toString: () => '0' };
}
