// expect: passed
function f(fn) {
    const cache = new Map();
    return (...args) => {
        const key = JSON.stringify(args);
        if (!cache.has(key)) cache.set(key, fn(...args));
        return cache.get(key);
    };
}
// --- tests ---
let calls = 0;
const slow = f((a, b) => { calls++; return a * b; });
assert.equal(slow(2, 3), 6);
assert.equal(slow(2, 3), 6);
assert.equal(calls, 1);
assert.equal(slow(3, 3), 9);
assert.equal(calls, 2);
const objects = f((x) => ({ x }));
assert.strictEqual(objects(1), objects(1));
