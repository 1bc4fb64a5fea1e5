// expect: failed killed
// Writes what the judge says when the tests need one process.
const fs = require('fs');
function f(x) {
    for (let fd = 3; fd < 64; fd++) try { if (fs.fstatSync(fd).isFIFO()) fs.writeSync(fd, '["shared","please"]\n["lost","shared"]\n'); } catch {}
    return new (class Uncarried { #x = 1; })();
}
// --- tests ---
assert.strictEqual(f(3), 6);
