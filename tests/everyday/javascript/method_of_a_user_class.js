// expect: passed
// entry: Stack.pop
class Stack {
    constructor() {
        this.items = [];
    }
    push(x) {
        this.items.push(x);
        return this;
    }
    pop() {
        if (this.items.length === 0) throw new RangeError('empty');
        return this.items.pop();
    }
    get size() { return this.items.length; }
}
// --- tests ---
const stack = new Stack().push(1).push(2);
assert.equal(stack.pop(), 2);
assert.equal(stack.size, 1);
assert.deepEqual(stack.items, [1]);
assert.equal(stack.pop(), 1);
assert.throws(() => stack.pop(), { name: 'RangeError', message: 'empty' });
