// expect: failed
class Found extends Array {
    *[Symbol.iterator]() { yield 6; }
}
function f(x) {
    return Found.of(0);
}
// --- tests ---
assert.deepEqual([...f(3)], [6]);
