// expect: failed
// What it is like while the tests are called counts for nothing afterwards.
function f(x, g) {
    const self = { value: 6, again() {} };
    g(self);
    self.value = 0;
    return self;
}
// --- tests ---
let seen;
const found = f(3, (self) => { seen = self; });
assert.equal(found.value, 6);
