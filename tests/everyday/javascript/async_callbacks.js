// expect: passed
// Promises of the tests are awaited by the code.
async function f(items, work) {
    const results = [];
    for (const item of items) results.push(await work(item));
    return results;
}
// --- tests ---
test('in order', async () => {
  const order = [];
  const work = async (x) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    order.push(x);
    return x * 2;
  };
  expect(await f([1, 2, 3], work)).toEqual([2, 4, 6]);
  expect(order).toEqual([1, 2, 3]);
});
test('breaks', async () => {
  await expect(f([1], () => Promise.reject(new TypeError('mine')))).rejects.toThrow(TypeError);
  await assert.rejects(() => f([1], async () => { throw new RangeError('far'); }), RangeError);
});
