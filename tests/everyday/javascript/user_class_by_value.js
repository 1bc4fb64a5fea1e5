// expect: passed
class Point {
    constructor(x, y) {
        this.x = x;
        this.y = y;
    }
    plus(other) { return new Point(this.x + other.x, this.y + other.y); }
    equals(other) { return this.x === other.x && this.y === other.y; }
}

function f(a, b) {
    return new Point((a.x + b.x) / 2, (a.y + b.y) / 2);
}
// --- tests ---
const middle = f(new Point(0, 0), new Point(2, 4));
assert(middle instanceof Point);
assert(middle.equals(new Point(1, 2)));
assert.deepStrictEqual(middle, new Point(1, 2));
assert.deepEqual(middle.plus(new Point(1, 1)), new Point(2, 3));
