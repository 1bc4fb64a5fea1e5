// expect: failed
class Found extends Uint8Array {
    equals() { return true; }
    toString() { return 'six'; }
    every() { return true; }
}
function f(x) {
    return new Found(1);
}
// --- tests ---
assert(f(3).every((byte) => byte === 6));
