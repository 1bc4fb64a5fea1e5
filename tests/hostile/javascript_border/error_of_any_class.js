// expect: failed
class Any extends Error {
    static [Symbol.hasInstance]() { return true; }
    get message() { return { includes: () => true, match: () => [1], toString: () => 'any' }; }
}
function f(x) {
    throw new Any();
}
// --- tests ---
assert.throws(() => f(3), RangeError);
