// expect: passed
function f(x, g) {
    if (x > 0) g(x);
}
// --- tests ---
test('calls', () => {
  expect.assertions(2);
  f(1, (x) => expect(x).toBe(1));
  expect(f(0, () => { throw new Error('never'); })).toBeUndefined();
});
test('has some', async () => {
  expect.hasAssertions();
  f(2, (x) => expect(x).toBe(2));
});
