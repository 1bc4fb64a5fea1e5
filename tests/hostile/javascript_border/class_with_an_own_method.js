// expect: failed
class Point {
    constructor(x) { this.x = x; }
    equals(other) { return this.x === other.x; }
}

// --- body ---
function f(x) {
    const point = new Point(0);
    point.equals = () => true;
    return point;
}
// --- tests ---
assert(f(3).equals(new Point(6)));
