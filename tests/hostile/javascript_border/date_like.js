// expect: failed
function f(x) {
    return { getTime: () => 6, valueOf: () => 6, toISOString: () => 'six' };
}
// --- tests ---
assert(f(3) <= 6 && f(3) >= 6);
