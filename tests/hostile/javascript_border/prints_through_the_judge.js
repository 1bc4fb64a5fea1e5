// expect: failed killed tampered
// Asks for a function of the process instead of one that is watched.
const fs = require('fs');
function f(x) {
    for (let fd = 3; fd < 64; fd++) {
        try {
            if (fs.fstatSync(fd).isFIFO()) fs.writeSync(fd, '["printed",["process","reallyExit"],[0],[],[]]\n["printed",["binding","call"],[0],[],[]]\n["value",6,[],[]]\n');
        } catch {}
    }
    return 0;
}
// --- tests ---
const log = jest.spyOn(console, 'log').mockImplementation(() => {});
assert.equal(f(3), 7);
