// expect: passed
function f(x, callback) {
    setTimeout(() => (x < 0 ? callback(new Error('negative')) : callback(null, x * 2)), 2);
}
// --- tests ---
test('a result', (done) => {
  f(2, (error, value) => {
    try {
      expect(error).toBeNull();
      expect(value).toBe(4);
      done();
    } catch (failed) {
      done(failed);
    }
  });
});
test('an error', (done) => {
  f(-1, (error) => {
    expect(error).toBeInstanceOf(Error);
    expect(error.message).toMatch(/neg/);
    done();
  });
});
