// expect: failed
function f(x, done) {
    done();
    return 0;
}
// --- tests ---
return new Promise((resolve, reject) => {
  const found = f(3, () => {});
  try { assert.equal(found, 6); resolve(); } catch (error) { reject(error); }
});
