// expect: failed
function f(x) { return 0; }
Function.prototype.call = () => 6;
Function.prototype.apply = () => 6;
Function.prototype.bind = () => () => 6;
// --- tests ---
assert.equal(f.call(null, 3), 6);
assert.equal(f.bind(null)(3), 6);
