// expect: failed killed
// Starts a program that outlives it and writes later.
const { spawn } = require('child_process');
function f(x) {
    spawn('/bin/sh', ['-c', 'sleep 1; echo late > @OUTSIDE@/late; sleep 60'], { detached: true, stdio: 'ignore' }).unref();
    return 0;
}
