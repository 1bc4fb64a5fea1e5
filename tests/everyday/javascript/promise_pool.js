// expect: passed
async function f(tasks, limit) {
    const results = [];
    let next = 0, active = 0, most = 0;
    const run = async () => {
        while (next < tasks.length) {
            const i = next++;
            most = Math.max(most, ++active);
            results[i] = await tasks[i]();
            active--;
        }
    };
    await Promise.all(Array.from({ length: limit }, run));
    return { results, most };
}
// --- tests ---
const wait = (ms, value) => () => new Promise((resolve) => setTimeout(() => resolve(value), ms));
test('limits', async () => {
  expect(await f([wait(8, 'a'), wait(2, 'b'), wait(2, 'c')], 2)).toEqual({ results: ['a', 'b', 'c'], most: 2 });
});
test('settles all', async () => {
  const all = await Promise.allSettled([f([wait(1, 1)], 1), f([() => Promise.reject(new Error('no'))], 1)]);
  expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(all[1].reason.message).toBe('no');
});
