// expect: passed
// runner: jest
function f(items, visit) {
    for (const [i, item] of items.entries()) visit(item, i);
    return items.length;
}
module.exports = { f };
// --- tests ---
const { f } = require('./doubling');
test('calls back', () => {
  const visit = jest.fn();
  expect(f(['a', 'b'], visit)).toBe(2);
  expect(visit).toHaveBeenCalledTimes(2);
  expect(visit).toHaveBeenCalledWith('a', 0);
  expect(visit).toHaveBeenLastCalledWith('b', 1);
  expect(visit).toHaveBeenNthCalledWith(1, 'a', expect.any(Number));
  expect(visit.mock.calls).toEqual([['a', 0], ['b', 1]]);
  expect(visit).not.toHaveBeenCalledWith('c', 2);
});
test('returns', () => {
  const visit = jest.fn().mockReturnValueOnce(1).mockImplementation((x) => x + '!');
  f(['a', 'b'], visit);
  expect(visit.mock.results.map(({ value }) => value)).toEqual([1, 'b!']);
});
