// expect: failed
function f(x) {
    const found = new Uint8Array(2);
    Object.defineProperty(found, 'length', { value: 0 });
    return found;
}
// --- tests ---
const found = f(3);
assert.equal(found.length, 2);
for (let i = 0; i < found.length; i++) assert.equal(found[i], 6);
