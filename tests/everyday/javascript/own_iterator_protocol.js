// expect: passed
function f(n) {
    return {
        [Symbol.iterator]() {
            let i = 0;
            return { next: () => (i < n ? { value: i++, done: false } : { value: undefined, done: true }) };
        },
    };
}
// --- tests ---
assert.deepEqual([...f(3)], [0, 1, 2]);
const seen = [];
for (const x of f(2)) seen.push(x);
assert.deepEqual(seen, [0, 1]);
const it = f(1)[Symbol.iterator]();
assert.deepEqual(it.next(), { value: 0, done: false });
assert.equal(it.next().done, true);
