// expect: failed
function f(x) {
    return { equals: () => true, x: 0 };
}
// --- tests ---
class Six { constructor() { this.x = 6; } }
assert(f(3).equals({ x: 6 }));
