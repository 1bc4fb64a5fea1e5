// expect: passed
async function f(x) {
    if (x < 0) throw new RangeError('negative');
    return { x };
}
// --- tests ---
test('kept', async () => {
  await expect(f(1)).resolves.not.toThrow();
  await expect(f(1)).resolves.toMatchObject({ x: 1 });
  await expect(f(-1)).rejects.toBeInstanceOf(RangeError);
  await expect(f(-1)).rejects.toMatchObject({ message: 'negative' });
  await expect(f(-1)).rejects.toThrowError(/neg/);
  await expect(() => f(-1)).rejects.toThrow('negative');
  await assert.doesNotReject(f(2));
});
