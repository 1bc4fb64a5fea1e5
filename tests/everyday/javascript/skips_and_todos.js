// expect: passed
// says: 2 checks (7 tests skipped)
function f(x) {
    return 2 * x;
}
// --- tests ---
test('runs', () => expect(f(1)).toBe(2));
test.skip('is skipped', () => expect(f(1)).toBe(3));
it.skip('too', () => expect(f(1)).toBe(3));
xit('as well', () => expect(f(1)).toBe(3));
xtest('and this', () => expect(f(1)).toBe(3));
test.todo('is to be written');
xdescribe('a group', () => { it('is left', () => expect(f(1)).toBe(3)); });
describe.skip('another', () => { it('is left', () => expect(f(1)).toBe(3)); });
describe('one more', () => { it('runs', () => expect(f(2)).toBe(4)); });
