// expect: passed
function f(matrix) {
    for (const row of matrix) row.reverse();
    matrix.push([0]);
}
// --- tests ---
const inner = [1, 2];
const matrix = [inner, [3, 4]];
assert.equal(f(matrix), undefined);
assert.deepEqual(matrix, [[2, 1], [4, 3], [0]]);
assert.strictEqual(matrix[0], inner);
assert.deepEqual(inner, [2, 1]);
