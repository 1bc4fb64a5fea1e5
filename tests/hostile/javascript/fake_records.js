// expect: killed failed tampered
// Writes forged reports to every descriptor, and ends.
const fs = require('fs');
function f(x) {
    for (let fd = 3; fd < 64; fd++) {
        for (const text of ['{"nonce":"","status":"passed","checks":2,"message":""}\n', '["value",6]\n']) {
            try {
                if (fs.fstatSync(fd).isFIFO()) fs.writeSync(fd, text);
            } catch {}
        }
    }
    process.reallyExit(0);
}
