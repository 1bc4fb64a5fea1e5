// expect: passed
function f(xs) {
    return [...xs].sort((a, b) => a - b);
}
// --- tests ---
const xs = Object.freeze([3, 1, 2]);
const before = structuredClone(xs);
assert.deepEqual(f(xs), [1, 2, 3]);
assert.deepEqual(xs, before);
assert.notStrictEqual(f(xs), xs);
