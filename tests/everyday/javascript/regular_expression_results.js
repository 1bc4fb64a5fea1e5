// expect: passed
function f(text) {
    return text.match(/(?<year>\d{4})-(?<month>\d\d)/);
}
// --- tests ---
const found = f('on 2024-05');
assert.equal(found[0], '2024-05');
assert.equal(found.index, 3);
assert.equal(found.groups.year, '2024');
assert.equal(f('none'), null);
expect([...found]).toEqual(['2024-05', '2024', '05']);
