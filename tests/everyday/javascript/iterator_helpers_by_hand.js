// expect: passed
function* f(iterable, size) {
    let window = [];
    for (const item of iterable) {
        window.push(item);
        if (window.length > size) window = window.slice(1);
        if (window.length === size) yield [...window];
    }
}
// --- tests ---
assert.deepEqual([...f([1, 2, 3, 4], 2)], [[1, 2], [2, 3], [3, 4]]);
assert.deepEqual(Array.from(f('abc', 3), (w) => w.join('')), ['abc']);
const [first] = f(new Map([[1, 'a'], [2, 'b']]), 1);
assert.deepEqual(first, [[1, 'a']]);
assert.deepEqual(Object.fromEntries([...f(['x', 'y'], 1)].map(([k], i) => [k, i])), { x: 0, y: 1 });
