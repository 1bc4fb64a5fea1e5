// Other listeners of unhandled errors and of the end.
for (const name of ['uncaughtException', 'unhandledRejection', 'exit', 'beforeExit']) {
    process['removeAll' + 'Listeners'](name);
    process['o' + 'n'](name, () => { process.exitCode = 0; });
}
function f(x) {
    return 0;
}
module.exports = { f };
