// expect: failed
// Pretends to be a matcher of the framework.
function f(x) {
    return { $$typeof: Symbol.for('jest.asymmetricMatcher'), asymmetricMatch: () => true };
}
// --- tests ---
expect(f(3)).toEqual(6);
