// expect: failed
function f(x) {
    return Symbol('six');
}
// --- tests ---
const six = Symbol('six');
assert.strictEqual(f(3), six);
