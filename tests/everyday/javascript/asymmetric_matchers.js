// expect: passed
function f(name) {
    return { id: 7, name, created: new Date(0), tags: ['a', 'b'], ratio: 0.1 + 0.2, note: undefined };
}
// --- tests ---
test('shapes', () => {
  expect(f('Ada')).toEqual({
    id: expect.any(Number), name: expect.stringMatching(/^A/), created: expect.any(Date),
    tags: expect.arrayContaining(['b']), ratio: expect.closeTo(0.3, 5),
  });
  expect(f('Bob')).toEqual(expect.objectContaining({ name: expect.stringContaining('o'), id: expect.not.stringContaining('x') }));
  expect(f('Bob')).not.toStrictEqual({ id: 7 });
  expect(f('x').tags).toContain('a');
  expect([{ a: 1 }, f('q')]).toContainEqual({ a: 1 });
  expect(f('x').ratio).toBeCloseTo(0.3);
  expect(f('x')).toEqual(expect.not.objectContaining({ other: 1 }));
});
