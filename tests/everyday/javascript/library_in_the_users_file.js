// expect: passed
const { isDeepStrictEqual } = require('util');

function f(x) {
    return { x: [x] };
}
// --- tests ---
console.assert(isDeepStrictEqual(f(1), { x: [1] }));
console.assert(!isDeepStrictEqual(f(1), { x: [2] }));
