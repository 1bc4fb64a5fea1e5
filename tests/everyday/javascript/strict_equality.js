// expect: passed
class Point {
    constructor(x, y) {
        this.x = x;
        this.y = y;
    }
}
function f(x, y) {
    return new Point(x, y);
}
// --- tests ---
test('a class instance has its own properties', () => {
  expect(f(1, 2)).toEqual({ x: 1, y: 2 });
  expect(f(1, 2)).not.toStrictEqual({ x: 1, y: 2 });
  expect(f(1, 2)).toStrictEqual(new Point(1, 2));
  expect(f(1, 2)).toEqual(new Point(1, 2));
  expect(f(1, undefined)).toEqual({ x: 1 });
  expect(f(1, 2)).toBeInstanceOf(Point);
  expect(f(1, 3)).not.toEqual(f(1, 2));
  expect([f(1, 2)]).toContainEqual({ x: 1, y: 2 });
});
