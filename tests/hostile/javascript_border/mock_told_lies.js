// expect: failed
function f(x, g) {
    g(6);
    return 0;
}
// --- tests ---
const g = jest.fn(() => 6);
expect(f(3, g)).toBe(6);
expect(g).toHaveBeenCalledWith(6);
