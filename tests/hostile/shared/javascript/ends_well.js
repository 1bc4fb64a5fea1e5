// Ends the process well.
function f(x) {
    process.exit(0);
}
module.exports = { f };
