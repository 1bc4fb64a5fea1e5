// expect: failed
// Writes outside of its folder.
const fs = require('fs');
function f(x) {
    fs.writeFileSync('@OUTSIDE@/made', 'x');
    return 2 * x;
}
