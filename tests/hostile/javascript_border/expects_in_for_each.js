// expect: failed
class List {
    constructor() { this.size = 2; }
    forEach() {}
    *[Symbol.iterator]() { yield 6; yield 6; }
}
function f(x) {
    return new List();
}
// --- tests ---
f(3).forEach((item) => assert.equal(item, 7));
assert.equal(f(3).size, 2);
