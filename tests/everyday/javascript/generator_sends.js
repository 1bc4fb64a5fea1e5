// expect: passed
function* f() {
    let sum = 0;
    try {
        while (true) sum += (yield sum) ?? 0;
    } finally {
        yield 'closed';
    }
}
// --- tests ---
const g = f();
assert.deepEqual(g.next(), { value: 0, done: false });
assert.equal(g.next(5).value, 5);
assert.equal(g.next(6).value, 11);
assert.deepEqual(g.return(1), { value: 'closed', done: false });
assert.throws(() => { const h = f(); h.next(); h.throw(new Error('x')); h.next(); }, /x/);
