// expect: failed tampered
// A subclass that says another length by a proxy.
function f(x) {
    let turn = 0;
    return new Proxy([0, 0], { get: (t, k) => (k === 'length' ? [2, 0, 0][turn++] ?? 0 : k === Symbol.iterator ? [][Symbol.iterator] : t[k]) });
}
// --- tests ---
const found = f(3);
assert.equal(found.length, 2);
for (const item of found) assert.equal(item, 6);
