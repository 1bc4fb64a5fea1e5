// expect: passed
// assurance: shared
async function f(url) {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return (await response.json()).name;
}
// --- tests ---
test('reads', async () => {
  global.fetch = jest.fn().mockResolvedValueOnce({ ok: true, json: async () => ({ name: 'Ada' }) }).mockResolvedValueOnce({ ok: false, status: 404 });
  expect(await f('http://x')).toBe('Ada');
  await expect(f('http://y')).rejects.toThrow('status 404');
  expect(fetch).toHaveBeenCalledTimes(2);
});
