// expect: failed killed tampered
// Answers the judge itself, with values of its own choice.
const fs = require('fs');
function f(x) {
    for (let fd = 3; fd < 64; fd++) {
        try {
            if (fs.fstatSync(fd).isFIFO()) for (let i = 0; i < 9; i++) fs.writeSync(fd, '["value",7,[]]\n');
        } catch {}
    }
    return 7;
}
