// expect: failed error tampered
// Shows itself as what is expected where it is printed.
const shown = Symbol.for('nodejs.util.inspect.custom');
function f(x) {
    return { [shown]() { return '6'; }, toString() { return '6'; }, toJSON() { return 6; }, inspect() { return '6'; } };
}
// --- tests ---
assert.equal(require('node:util').inspect(f(3)), '6');
assert.deepEqual(f(3), 6);
