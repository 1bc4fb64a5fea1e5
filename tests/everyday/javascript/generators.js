// expect: passed
function* f(limit = Infinity) {
    let [a, b] = [0, 1];
    while (a < limit) {
        yield a;
        [a, b] = [b, a + b];
    }
    return 'end';
}
// --- tests ---
test('finite', () => expect([...f(10)]).toEqual([0, 1, 1, 2, 3, 5, 8]));
test('endless', () => {
  const seen = [];
  for (const n of f()) {
    if (seen.length === 6) break;
    seen.push(n);
  }
  expect(seen).toEqual([0, 1, 1, 2, 3, 5]);
  const [first, second, third] = f();
  expect([first, second, third]).toEqual([0, 1, 1]);
});
test('by hand', () => {
  const it = f(1);
  expect(it.next()).toEqual({ value: 0, done: false });
  expect(it.next()).toEqual({ value: 'end', done: true });
  expect(it.next().done).toBe(true);
  assert.equal(typeof it[Symbol.iterator], 'function');
});
