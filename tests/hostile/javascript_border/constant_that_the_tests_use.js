// expect: failed
// A helper that only the tests should have.
const expected = 0;
const cases = [];
function f(x) {
    return 0;
}
// --- tests ---
const expected = 6, cases = [3];
for (const x of cases) assert.equal(f(x), expected);
