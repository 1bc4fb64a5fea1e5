// expect: failed
function f(x) {
    return { size: 1, entries: () => [], keys: () => [], values: () => [], get: () => 6 };
}
// --- tests ---
const found = f(3);
assert.equal(found.size, 1);
for (const [key, value] of found.entries()) assert.equal(value, 7);
