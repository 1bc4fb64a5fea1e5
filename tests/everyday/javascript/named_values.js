// expect: passed
// entry: Money
class Money {
    constructor(cents) { this.cents = cents; }
    valueOf() { return this.cents; }
    toString() { return `$${(this.cents / 100).toFixed(2)}`; }
    plus(other) { return new Money(this.cents + other.cents); }
}
// --- tests ---
const [one, two] = [new Money(100), new Money(250)];
assert(one < two);
assert.equal(one + two, 350);
assert.equal(`${one.plus(two)}`, '$3.50');
assert.equal(String(two), '$2.50');
assert.deepEqual([two, one].sort((a, b) => a - b), [one, two]);
