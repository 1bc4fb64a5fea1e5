// expect: passed
// entry: Range
class Range {
    constructor(from, to) {
        this.from = from;
        this.to = to;
    }
    get length() { return this.to - this.from; }
    *[Symbol.iterator]() {
        for (let i = this.from; i < this.to; i++) yield i;
    }
    map(g) { return [...this].map(g); }
    forEach(g) { [...this].forEach((x) => g(x)); }
    includes(x) { return x >= this.from && x < this.to; }
}
// --- tests ---
const range = new Range(2, 5);
assert.deepEqual([...range], [2, 3, 4]);
assert.deepEqual(Array.from(range, (x) => x * 2), [4, 6, 8]);
assert.equal(range.length, 3);
assert.deepEqual(range.map((x) => x + 1), [3, 4, 5]);
const seen = [];
range.forEach((x) => seen.push(x));
assert.deepEqual(seen, [2, 3, 4]);
assert(range.includes(4) && !range.includes(5));
assert.equal(Math.max(...range), 4);
