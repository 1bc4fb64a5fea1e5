// expect: failed
function f(x) {
    return [{ asymmetricMatch: () => true, sample: 6 }];
}
// --- tests ---
expect(f(3)).toEqual([6]);
