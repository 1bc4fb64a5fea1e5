// expect: failed
let turn = 0;
function f(x) {
    return { toString: () => ['6', '7'][turn++ % 2] };
}
// --- tests ---
const found = f(3);
assert.equal(`${found}`, '6');
assert.equal(`${found}`, '7');
