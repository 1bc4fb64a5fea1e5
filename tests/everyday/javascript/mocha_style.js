// expect: passed
function f(items) {
    return items.length === 0 ? undefined : Math.max(...items);
}
// --- tests ---
describe('largest', function () {
  this.timeout(2000);
  before(function () { this.slow(100); });
  context('of some', function () {
    specify('the largest', function () {
      this.timeout(500);
      assert.strictEqual(f([1, 3, 2]), 3);
    });
  });
  it('of none', () => assert.strictEqual(f([]), undefined));
});
