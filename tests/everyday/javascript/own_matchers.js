// expect: passed
function f(x) {
    return x * 2;
}
// --- tests ---
expect.extend({
  toBeEven(value) {
    return { pass: value % 2 === 0, message: () => `${value} is odd` };
  },
});
test('even', () => {
  expect(f(3)).toBeEven();
  expect(f(3) + 1).not.toBeEven();
  expect({ a: f(2) }).toEqual({ a: expect.toBeEven() });
});
