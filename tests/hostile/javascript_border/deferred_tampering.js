// expect: failed
// Changes what it has returned after it was looked at.
const found = { double: 0 };
function f(x) {
    queueMicrotask(() => { found.double = 6; });
    setTimeout(() => { found.double = 6; }, 0);
    return found;
}
// --- tests ---
assert.equal(f(3).double, 6);
