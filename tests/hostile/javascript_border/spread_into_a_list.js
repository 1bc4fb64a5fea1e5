// expect: failed
function f(x) {
    return { [Symbol.isConcatSpreadable]: true, length: 1, 0: 6 };
}
// --- tests ---
assert.deepEqual([].concat(f(3)), [6]);
