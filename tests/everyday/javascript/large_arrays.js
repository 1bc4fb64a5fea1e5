// expect: passed
function f(items) {
    items.sort((a, b) => a - b);
    return { first: items[0], all: items };
}
// --- tests ---
const items = Array.from({ length: 20000 }, (_, i) => (i * 7919) % 20011);
const sorted = [...items].sort((a, b) => a - b);
const result = f(items);
assert.strictEqual(result.all, items);
assert.deepEqual(items, sorted);
assert.equal(result.first, sorted[0]);
