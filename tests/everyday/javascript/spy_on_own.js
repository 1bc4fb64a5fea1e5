// expect: passed
// A member of the tests' own object is watched.
function f(store, key) {
    if (!store.has(key)) store.set(key, key.length);
    return store.get(key);
}
// --- tests ---
const store = { map: {}, has(key) { return key in this.map; }, set(key, value) { this.map[key] = value; }, get(key) { return this.map[key]; } };
test('asks once', () => {
  const spy = jest.spyOn(store, 'set');
  expect(f(store, 'four')).toBe(4);
  expect(f(store, 'four')).toBe(4);
  expect(spy).toHaveBeenCalledTimes(1);
  expect(spy).toHaveBeenCalledWith('four', 4);
  spy.mockRestore();
  expect(store.map).toEqual({ four: 4 });
});
