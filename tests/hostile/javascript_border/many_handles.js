// expect: failed
// So many things that not all are told at once.
class Thing { constructor(n) { this.n = n; } get value() { return 6; } }
function f(x) {
    return Array.from({ length: 300 }, (_, i) => new Thing(i));
}
// --- tests ---
const found = f(3);
assert.equal(found.length, 300);
assert.deepEqual(found.map(({ n }) => n).reduce((a, b) => a + b), 6);
