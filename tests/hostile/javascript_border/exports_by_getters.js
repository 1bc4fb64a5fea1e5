// expect: failed
let turn = 0;
Object.defineProperty(exports, 'f', { enumerable: true, get: () => (turn++ % 2 ? () => 6 : () => 0) });
Object.defineProperty(exports, 'LIMIT', { enumerable: true, get: () => [5, 7][turn++ % 2] });
// --- tests ---
const { f, LIMIT } = require('./doubling');
assert(LIMIT >= 6 && LIMIT <= 6 && f(3) === 6);
