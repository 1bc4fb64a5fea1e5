// expect: failed
// A class that is called like the user's own.
class Point {
    constructor(x) { this.x = x; }
    equals(other) { return this.x === other.x; }
}

// --- body ---
function f(x) {
    return new (class Point {
        equals() { return true; }
        get x() { return 6; }
    })();
}
// --- tests ---
const found = f(3);
assert(found.equals(new Point(6)));
