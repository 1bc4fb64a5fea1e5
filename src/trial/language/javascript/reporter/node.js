// Reports the results of node's own runner. The runner is started before any other code, and loads its
// reporter then.
if (report !== null && report.add !== undefined) {
  const test = require('node:test');
  Object.freeze(test);
  const names = [];
  let wake;
  const ready = new Promise((resolve) => (wake = resolve));
  let isTaken = false;
  module.exports = async function* (source) {
    if (isTaken) return report.spoil();
    isTaken = true;
    wake();
    for await (const { type, data } of source) {
      if (type === 'test:start') {
        names[data.nesting] = data.nesting > 0 ? `${names[data.nesting - 1]} > ${data.name}` : data.name;
      }
      if (type !== 'test:pass' && type !== 'test:fail') continue;
      const { error, type: kind } = data.details;
      const parts = error?.failureType === 'subtestsFailed';
      if (kind === 'suite' && (type === 'test:pass' || parts)) continue;
      const name = names[data.nesting];
      if (data.skip !== undefined || data.todo !== undefined) report.add(name, 'skipped');
      else if (type === 'test:pass') report.add(name, 'passed');
      else report.add(name, 'failed', report.describe(parts ? error : (error?.cause ?? error), data.file));
    }
    report.finish();
  };
  test.before(() => {});
  module.exports.ready = ready;
}
