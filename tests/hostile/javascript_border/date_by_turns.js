// expect: failed
class Found extends Date {
    getTime() { return 6; }
    valueOf() { return 6; }
    toISOString() { return '6'; }
}
function f(x) {
    return new Found(0);
}
// --- tests ---
assert.equal(f(3).getTime(), 6);
