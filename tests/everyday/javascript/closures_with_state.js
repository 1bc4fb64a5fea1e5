// expect: passed
function f(start = 0) {
    let count = start;
    return {
        increment: () => ++count,
        decrement: () => --count,
        get value() { return count; },
        reset() { count = start; },
    };
}
// --- tests ---
const counter = f(3);
assert.equal(counter.increment(), 4);
assert.equal(counter.value, 4);
counter.increment();
assert.equal(counter.value, 5);
counter.reset();
assert.equal(counter.value, 3);
const other = f();
other.decrement();
assert.deepEqual([counter.value, other.value], [3, -1]);
