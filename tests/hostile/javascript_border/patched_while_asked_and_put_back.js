// expect: failed error
// Patches what matchers stand on while it is asked, and puts it back later.
const { is } = Object;
const { get } = Map.prototype;
function f(x) {
    Object.is = () => true;
    Map.prototype.get = () => 6;
    Array.prototype.every = () => true;
    setTimeout(() => { Object.is = is; Map.prototype.get = get; }, 0);
    return new Map([[3, 0]]);
}
// --- tests ---
assert.strictEqual(f(3).get(3), 6);
assert.deepStrictEqual([...f(3).values()], [6]);
