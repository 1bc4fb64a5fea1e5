// expect: failed
// tests: assert.deepStrictEqual(f(3), { value: 6 });
// An object whose value changes each time it is looked at.
class Counter {
    constructor() {
        this.n = 0;
    }

    get value() {
        return this.n++;
    }
}
function f(x) {
    return new Counter();
}
