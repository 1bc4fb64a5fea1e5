// expect: failed killed tampered
// Says that what the tests hold has changed.
const fs = require('fs');
function f(xs) {
    const heap = JSON.stringify(Array.from({ length: 40 }, (_, i) => [2 * i, ['o', 0, [['double', 0]]]]));
    for (let fd = 3; fd < 64; fd++) try { if (fs.fstatSync(fd).isFIFO()) fs.writeSync(fd, `["value",["u"],${heap},[]]\n`); } catch {}
    return xs;
}
// --- tests ---
const wanted = { double: 6 };
f([3]);
assert.deepStrictEqual(wanted, { double: 0 });
