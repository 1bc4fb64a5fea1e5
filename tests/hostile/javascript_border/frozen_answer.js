// expect: failed
function f(x) {
    return Object.freeze({ get double() { return 0; } });
}
// --- tests ---
assert.deepEqual(f(3), { double: 6 });
