// expect: passed
// assurance: shared
function f(g, ms) {
    let timer;
    return (...args) => {
        clearTimeout(timer);
        timer = setTimeout(() => g(...args), ms);
    };
}
// --- tests ---
jest.useFakeTimers();
test('waits', () => {
  const g = jest.fn();
  const later = f(g, 1000);
  later(1);
  jest.advanceTimersByTime(500);
  later(2);
  jest.advanceTimersByTime(999);
  expect(g).not.toHaveBeenCalled();
  jest.advanceTimersByTime(1);
  expect(g).toHaveBeenCalledTimes(1);
  expect(g).toHaveBeenCalledWith(2);
});
