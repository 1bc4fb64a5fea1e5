// expect: passed
function f(a, b) {
    return a + b;
}
// --- tests ---
test.each([[1, 2, 3], [2, 3, 5]])('adds %i and %i', (a, b, sum) => expect(f(a, b)).toBe(sum));
test.each([{ a: 1, b: 1, sum: 2 }])('$a + $b', ({ a, b, sum }) => expect(f(a, b)).toBe(sum));
it.each`
  a | b | sum
  ${4} | ${5} | ${9}
  ${'x'} | ${'y'} | ${'xy'}
`('table of $a', ({ a, b, sum }) => expect(f(a, b)).toBe(sum));
describe.each([[1, 2]])('of %d', (a, b) => {
  it('comes before', () => expect(f(a, b)).toBeGreaterThan(a));
});
test.each(['q', 'r'])('one value %s', (a) => expect(f(a, '')).toBe(a));
