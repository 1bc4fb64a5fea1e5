// expect: passed
// entry: DefaultMap
class DefaultMap extends Map {
    constructor(make) {
        super();
        this.make = make;
    }
    get(key) {
        if (!this.has(key)) this.set(key, this.make());
        return super.get(key);
    }
}
class Matrix extends Array {
    sum() { return this.flat().reduce((a, b) => a + b, 0); }
}
// --- tests ---
const counts = new DefaultMap(() => 0);
for (const c of 'aab') counts.set(c, counts.get(c) + 1);
assert.equal(counts.get('a'), 2);
assert.equal(counts.get('z'), 0);
assert.equal(counts.size, 3);
assert.deepEqual([...counts.keys()], ['a', 'b', 'z']);
assert(counts instanceof Map);
const matrix = Matrix.from([[1, 2], [3]]);
assert.equal(matrix.sum(), 6);
assert.equal(matrix.length, 2);
