// expect: passed
// entry: List
// A class whose constructor and methods give objects of other kinds.
const Nil = { get values() { return []; }, concat: () => Nil, map: () => Nil, includes: () => false, length: () => 0 };
class Cons {
    constructor(value, next) { Object.assign(this, { value, next }); }
    get values() { return [this.value, ...this.next.values]; }
    concat(other) { return new Cons(this.value, other); }
    map(g) { return new Cons(g(this.value), this.next.map(g)); }
    includes(x) { return this.value === x || this.next.includes(x); }
    length() { return 1 + this.next.length(); }
}
class List {
    constructor(items = []) {
        return items.reduceRight((next, value) => new Cons(value, next), Nil);
    }
}
// --- tests ---
const list = new List([1, 2]);
assert.deepEqual(list.map((x) => 2 * x).values, [2, 4]);
assert.deepEqual(new List().map((x) => x).values, []);
assert.equal(list.map((x) => x + 1).includes(3), true);
assert.equal(list.map((x) => x + 1).includes(1), false);
assert.equal(list.concat(new List()).length(), 1);
