// expect: failed
class Failure extends Error {
    includes() { return true; }
    matches() { return true; }
}
function f(x) {
    throw new Failure('zero');
}
// --- tests ---
let error;
try { f(3); } catch (caught) { error = caught; }
assert(error.includes('six'));
