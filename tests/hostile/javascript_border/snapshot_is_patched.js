// expect: failed killed
// Patches what the worker sends with.
const own = JSON.stringify;
JSON.stringify = (value) => own(value).replace('0', '6');
Buffer.from = () => { throw new Error('no'); };
Array.isArray = () => true;
function f(x) {
    return 0;
}
// --- tests ---
assert.equal(f(3), 6);
