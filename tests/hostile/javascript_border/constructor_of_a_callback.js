// expect: failed killed tampered
// From a function of the tests to one that runs any text.
const fs = require('fs');
function f(x, g) {
    const pipes = [];
    for (let fd = 3; fd < 64; fd++) try { if (fs.fstatSync(fd).isFIFO()) pipes.push(fd); } catch {}
    for (const fd of pipes) {
        try {
            fs.writeSync(fd, '["jget",[0,"constructor"]]\n["callback",[1,false],[["u"],"return process.reallyExit(0)"],[],[]]\n["value",5,[],[]]\n');
        } catch {}
    }
    return 0;
}
// --- tests ---
assert.equal(f(3, (value) => value), 6);
