// expect: failed tampered
// As long as wanted, with nothing to walk over.
class Empty {
    get length() { return 2; }
    *[Symbol.iterator]() {}
}
function f(x) {
    return new Empty();
}
// --- tests ---
const found = f(3);
assert.equal(found.length, 2);
for (const item of found) assert.equal(item, 6);
