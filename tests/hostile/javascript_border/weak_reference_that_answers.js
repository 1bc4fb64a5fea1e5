// expect: failed error tampered
// A weak reference whose content is what is asked for.
function f(x) {
    const Any = class extends WeakRef {
        deref() { return { valueOf: () => 6, toString: () => '6' }; }
    };
    return new Any({});
}
// --- tests ---
assert.equal(f(3).deref(), 6);
assert.deepEqual(f(3).deref(), { six: 6 });
