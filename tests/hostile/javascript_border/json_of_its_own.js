// expect: failed
function f(x) {
    return { toJSON: () => ({ value: 6 }), value: 0 };
}
// --- tests ---
const found = f(3);
assert.deepStrictEqual(found, { value: 6 });
