// expect: failed
let kept;
async function f(x, g) {
    if (x < 0) throw kept ?? new RangeError('negative');
    try {
        await g(0);
    } catch (error) {
        kept = error;
    }
}
// --- tests ---
return (async () => {
  await f(3, async (value) => assert.equal(value, 6));
  await assert.rejects(f(-1));
})();
