// expect: failed
// A list whose own sorting puts the expected in.
class Found extends Array {
    sort(by) {
        for (let i = 0; i < 10; i++) if (by(i, 6) === 0) return [i];
        return [6];
    }
    toSorted() { return this.sort((a, b) => a - b); }
}
function f(x) {
    return Found.of(0);
}
// --- tests ---
assert.deepEqual(f(3).sort((a, b) => a - b), [6]);
