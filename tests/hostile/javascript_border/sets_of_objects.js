// expect: failed
class Anything { equals() { return true; } }
function f(x) {
    return new Set([new Anything()]);
}
// --- tests ---
expect(f(3)).toEqual(new Set([6]));
