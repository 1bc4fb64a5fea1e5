// expect: failed
class Found extends Array {
    static get [Symbol.species]() {
        return class extends Array { get length() { return 0; } };
    }
    filter() { return []; }
}
function f(x) {
    return Found.of(1, 2);
}
// --- tests ---
assert.deepEqual(f(3).filter((x) => x > 0), []);
assert.equal(f(3).filter((x) => x !== 6).length, 0);
