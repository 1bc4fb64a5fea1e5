// expect: failed
class Found extends String {
    includes() { return true; }
    startsWith() { return true; }
    match() { return [6]; }
}
function f(x) {
    return new Found('zero');
}
// --- tests ---
assert(f(3).includes('six'));
