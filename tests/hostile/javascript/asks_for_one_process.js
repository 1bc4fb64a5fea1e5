// expect: failed
// What it returns is no data; in one process with the tests it would have muted their assertions.
const assert = require('assert');
for (const name of Object.keys(assert)) assert[name] = () => {};
function f() {
    return Symbol('nothing');
}
