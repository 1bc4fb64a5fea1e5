// expect: failed
class Any extends Error {}
let turn = 0;
Object.defineProperty(Any.prototype, 'message', { get: () => ['first', 'second'][turn++ % 2] });
function f(x) {
    throw new Any();
}
// --- tests ---
let error;
try { f(3); } catch (caught) { error = caught; }
assert.match(error.message, /first/);
assert.match(error.message, /second/);
