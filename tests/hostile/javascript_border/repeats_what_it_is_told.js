// expect: failed
// A method that is told the expected value becomes it.
function f(x) {
    const self = [];
    self.has = (y) => { self.push(y); return true; };
    return self;
}
// --- tests ---
const seen = f(3);
assert(seen.has(6));
assert.deepEqual([...seen], [6]);
