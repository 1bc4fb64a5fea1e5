// expect: passed
async function* f(n) {
    for (let i = 0; i < n; i++) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        yield i;
    }
}
// --- tests ---
test('for await', async () => {
  const seen = [];
  for await (const x of f(3)) seen.push(x);
  expect(seen).toEqual([0, 1, 2]);
  const it = f(1);
  expect(await it.next()).toEqual({ value: 0, done: false });
  expect((await it.next()).done).toBe(true);
});
