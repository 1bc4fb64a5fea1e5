// expect: failed
const strictEqual = () => {};
const deepStrictEqual = () => {};
const ok = () => {};
function f(x) {
    return 0;
}
// --- tests ---
strictEqual(f(3), 6);
deepStrictEqual(f(3), 6);
assert(f(3) === 6);
