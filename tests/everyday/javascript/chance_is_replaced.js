// expect: passed
// assurance: shared
function f(items) {
    return items[Math.floor(Math.random() * items.length)];
}
// --- tests ---
test('draws', () => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
  expect(f(['a', 'b', 'c', 'd'])).toBe('c');
  Math.random.mockRestore();
  expect(['a']).toContain(f(['a']));
});
