// expect: passed
function f(value) {
    if (Array.isArray(value)) return value.map(f);
    if (value instanceof Date) return new Date(value);
    if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, f(v)]));
    return value;
}
// --- tests ---
const original = { a: { b: [1, { c: 2 }] }, d: new Date(5) };
const copy = f(original);
assert.deepStrictEqual(copy, original);
assert.notStrictEqual(copy, original);
assert.notStrictEqual(copy.a, original.a);
copy.a.b[1].c = 9;
assert.equal(original.a.b[1].c, 2);
assert.notStrictEqual(copy.d, original.d);
