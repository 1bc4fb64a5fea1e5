// expect: passed
// An assertion that fails in a function of the tests, and that the code hands on, is the tests' to handle.
function f(work, onError) {
    try {
        return work();
    } catch (error) {
        onError(error);
        throw error;
    }
}
// --- tests ---
test('hands on', () => {
  const seen = [];
  assert.throws(() => f(() => { assert.equal(1, 2); }, (error) => seen.push(error)), assert.AssertionError);
  assert.equal(seen.length, 1);
  expect(() => f(() => expect(1).toBe(2), () => {})).toThrow();
});
