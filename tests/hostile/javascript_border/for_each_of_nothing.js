// expect: failed tampered
// Walks over nothing when it is asked to.
class Found extends Array {
    forEach() {}
    map() { return []; }
    every() { return true; }
}
function f(x) {
    return Found.of(0, 0);
}
// --- tests ---
const found = f(3);
assert.equal(found.length, 2);
found.forEach((item) => assert.equal(item, 6));
assert(found.every((item) => item === 6));
