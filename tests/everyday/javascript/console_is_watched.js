// expect: passed
// Output that tests catch counts as a check of the code.
function f(name) {
    console.log(`Hello, ${name}!`);
    console.error('done', { name });
}
// --- tests ---
test('prints', () => {
  const log = jest.spyOn(console, 'log').mockImplementation(() => {});
  const error = jest.spyOn(console, 'error').mockImplementation(() => {});
  f('Ada');
  expect(log).toHaveBeenCalledWith('Hello, Ada!');
  expect(error.mock.calls[0]).toEqual(['done', { name: 'Ada' }]);
  log.mockRestore();
});
