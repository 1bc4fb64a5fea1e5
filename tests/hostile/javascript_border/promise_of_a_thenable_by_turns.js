// expect: failed
let turn = 0;
async function f(x) {
    return { get value() { return [6, 7][turn++ % 2]; } };
}
// --- tests ---
return f(3).then((found) => { assert.equal(found.value, 6); assert.equal(found.value, 7); });
