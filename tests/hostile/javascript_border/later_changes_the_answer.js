// expect: failed
// What it returned becomes something else when it is called again.
const kept = [];
function f(x) {
    kept.push(x);
    return kept;
}
// --- tests ---
const first = f(6);
const second = f(7);
assert.deepEqual(first, [6]);
assert.deepEqual(second, [6, 7]);
