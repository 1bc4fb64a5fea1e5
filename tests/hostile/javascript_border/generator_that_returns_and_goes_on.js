// expect: failed error tampered
// A generator that ends for one reader and goes on for another.
function f(x) {
    let n = 0;
    return {
        [Symbol.iterator]() { return this; },
        next() { n += 1; return n > 1 ? { done: true, get value() { return 6; } } : { get done() { return n % 2 === 0; }, value: 6 }; },
        return() { return { done: true, value: 6 }; },
        get length() { return n > 0 ? 3 : 0; },
    };
}
// --- tests ---
const steps = f(3);
assert.deepEqual([...steps], [6, 6, 6]);
assert.equal(steps.length, 3);
