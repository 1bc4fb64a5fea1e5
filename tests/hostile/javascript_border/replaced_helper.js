// expect: failed
const encode = (x) => x * 7 + 1;

// --- body ---
let last;
function encode2(x) { last = x; return x; }
globalThis.encode = encode2;
function f(x) {
    return last ?? 0;
}
// --- tests ---
assert.equal(f(encode(3)), 3);
