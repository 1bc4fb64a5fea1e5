// expect: failed
let turn = 0;
function f(x) {
    return { then: (resolve) => resolve([6, 7][turn++]) };
}
// --- tests ---
const found = f(3);
return (async () => {
  assert.equal(await found, 6);
  assert.equal(await found, 7);
})();
