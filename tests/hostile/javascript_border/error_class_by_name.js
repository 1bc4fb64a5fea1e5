// expect: failed
const Own = { TypeError: class TypeError extends Error {} }.TypeError;
function f(x) {
    throw new Own('no number');
}
// --- tests ---
expect(() => f(3)).toThrow(TypeError);
