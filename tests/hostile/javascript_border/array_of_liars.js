// expect: failed
class Liar { equals() { return true; } valueOf() { return 6; } }
function f(x) {
    return [new Liar(), new Liar()];
}
// --- tests ---
assert(f(3).every((each) => each.equals(6)));
