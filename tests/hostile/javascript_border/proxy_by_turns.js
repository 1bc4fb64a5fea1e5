// expect: failed
let turn = 0;
function f(x) {
    return new Proxy({}, { get: () => [7, 5][turn++ % 2] });
}
// --- tests ---
const found = f(3);
assert(found.value >= 6 && found.value <= 6);
