// expect: failed
// Reads a file of the home folder.
const fs = require('fs');
function f(x) {
    return fs.readFileSync('@HOME@/.ssh/id_ed25519', 'utf8') ? 6 : 0;
}
