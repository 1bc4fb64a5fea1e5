// expect: passed
function f(a, b) {
    return a.map((x, i) => [x, b[i]]);
}
// --- tests ---
function same(actual, expected, message) {
  assert.deepEqual(actual, expected, message);
}
const cases = [[[1], ['a'], [[1, 'a']]], [[], [], []]];
for (const [a, b, expected] of cases) same(f(a, b), expected, `of ${a}`);
cases.forEach(([a, b, expected], i) => {
  test(`case ${i}`, () => same(f(a, b), expected));
});
