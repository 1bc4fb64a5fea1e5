// expect: failed
// No array at all, but asked like one.
function f(x) {
    return { length: 1, includes: () => true, indexOf: () => 0 };
}
// --- tests ---
assert(f(3).includes(6));
