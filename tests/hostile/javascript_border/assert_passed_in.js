// expect: failed
// What a callback is told, it could compare.
function f(x, same) {
    return same;
}
// --- tests ---
const same = (a) => a === 6;
assert(f(3, same)(0));
