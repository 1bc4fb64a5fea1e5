// expect: passed
function f(ms, value) {
    return new Promise((resolve) => setTimeout(() => resolve(value), ms));
}
// --- tests ---
test('takes a while', async () => {
  const begun = Date.now();
  expect(await f(30, 'x')).toBe('x');
  expect(Date.now() - begun).toBeGreaterThanOrEqual(25);
});
test('the shorter one wins', async () => {
  assert.equal(await Promise.race([f(80, 'slow'), f(5, 'fast')]), 'fast');
});
test('resolves', () => expect(f(1, [1])).resolves.toEqual([1]));
