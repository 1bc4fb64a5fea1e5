// expect: failed not_run
function f(x) {
    return [];
}
// --- tests ---
for (const value of f(3)) assert.equal(value, 6);
