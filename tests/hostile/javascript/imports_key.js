// expect: failed
// Reads a file of the home folder as a module.
function f(x) {
    return require('@HOME@/.ssh/id_ed25519');
}
