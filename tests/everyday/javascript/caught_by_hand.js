// expect: passed
function f(x) {
    if (typeof x !== 'number') throw new TypeError(`no number: ${x}`);
    return Math.sqrt(x);
}
// --- tests ---
test('by hand', () => {
  try {
    f('a');
    assert.fail('it should have thrown');
  } catch (error) {
    assert(error instanceof TypeError);
    assert.equal(error.message, 'no number: a');
    assert.match(error.stack, /TypeError/);
  }
  assert.throws(() => f(null), (error) => error instanceof TypeError && /null/.test(error.message));
  assert.throws(() => f([]), new TypeError('no number: '));
  assert.doesNotThrow(() => f(4));
  assert.notEqual(f(4), 3);
  assert.deepStrictEqual([f(4), f(9)], [2, 3]);
});
