// expect: passed
function f(depth) {
    let list = null;
    for (let i = 0; i < depth; i++) list = { value: i, next: list };
    return list;
}
// --- tests ---
let count = 0;
for (let at = f(3000); at; at = at.next) count++;
assert.equal(count, 3000);
