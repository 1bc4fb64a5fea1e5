// expect: failed
function f(x) {
    return Array(2);
}
// --- tests ---
const found = f(3);
assert.deepStrictEqual(found, [undefined, undefined]);
