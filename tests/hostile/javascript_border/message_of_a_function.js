// expect: failed
function f(x) {
    throw Object.assign(new Error('zero'), { message: { includes: () => true, toString: () => 'six', match: () => [1] } });
}
// --- tests ---
let error;
try { f(3); } catch (caught) { error = caught; }
assert(error.message.includes('six'));
