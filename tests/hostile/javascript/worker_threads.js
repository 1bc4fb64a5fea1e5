// expect: killed failed timeout
// Starts threads without end.
const { Worker } = require('worker_threads');
function f(x) {
    for (;;) new Worker('for (;;);', { eval: true });
}
