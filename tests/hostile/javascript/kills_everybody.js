// expect: killed passed failed tampered
// Signals everything it can reach.
function f(x) {
    try {
        process.kill(-1, 'SIGCONT');
        process.kill(@PARENT@, 'SIGKILL');
        process.kill(@VICTIM@, 'SIGKILL');
    } catch {}
    return 2 * x;
}
