// expect: failed
// Another number each time.
let turn = 0;
function f(x) {
    return { valueOf: () => [6, 7][turn++ % 2] };
}
// --- tests ---
const found = f(3);
assert(found == 6 && found == 7 || found == 6);
