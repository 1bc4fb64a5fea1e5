// expect: failed
function f(x) {
    return { [Symbol.toPrimitive]: () => 6n, valueOf: () => 6n };
}
// --- tests ---
assert(f(3) == 6n);
