// expect: passed
async function f(tasks) {
    const outcomes = await Promise.allSettled(tasks.map((task) => task()));
    const errors = outcomes.filter(({ status }) => status === 'rejected').map(({ reason }) => reason);
    if (errors.length > 0) throw new AggregateError(errors, `${errors.length} failed`);
    return outcomes.map(({ value }) => value);
}
// --- tests ---
test('gathers errors', async () => {
  expect(await f([async () => 1])).toEqual([1]);
  const error = await f([() => Promise.reject(new Error('a')), async () => { throw new TypeError('b'); }]).catch((e) => e);
  expect(error).toBeInstanceOf(AggregateError);
  expect(error.message).toBe('2 failed');
  expect(error.errors.map(({ message }) => message)).toEqual(['a', 'b']);
  expect(error.errors[1]).toBeInstanceOf(TypeError);
});
