// expect: passed
function f(a, b) {
    return { sum: a + b, list: [a, b] };
}
// --- tests ---
for (let i = 0; i < 3000; i++) assert.deepEqual(f(i, 1), { sum: i + 1, list: [i, 1] });
