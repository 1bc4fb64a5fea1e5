// expect: failed
// Tries to reach the prototypes of the other side through a key.
function f(x) {
    return JSON.parse('{"__proto__":{"equals":1},"constructor":{"prototype":{"polluted":6}}}');
}
// --- tests ---
f(3);
assert.equal({}.polluted, 6);
