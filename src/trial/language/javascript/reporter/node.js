// Reports the results of node's own runner. The runner is started before any other code, and loads its
// reporter then.
if (report !== null && report.add !== undefined) {
  const test = require('node:test');
  Object.freeze(test);
  const names = [];
  // Tests that were not run as a hook of their suite failed, which is told behind them.
  let cancelled = [];
  // How the runner tells of an error that belongs to no test that still ran. It fails by that at its end.
  const stray = /generated asynchronous activity after the test ended\. This activity created the error "([^]*)"/;
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
      if (type === 'test:diagnostic') {
        const error = stray.exec(data.message);
        if (error !== null) report.fails(error[1]);
      }
      if (type !== 'test:pass' && type !== 'test:fail') continue;
      const { error, type: kind } = data.details;
      const parts = error?.failureType === 'subtestsFailed';
      if (kind === 'suite' && (type === 'test:pass' || parts)) continue;
      const name = names[data.nesting];
      const cause = parts ? error : (error?.cause ?? error);
      const why = () => report.describe(cause, data.file);
      if (error?.failureType === 'cancelledByParent') {
        if (kind !== 'suite') cancelled.push([name, why()]);
        continue;
      }
      const within = cancelled.filter(([test]) => kind === 'suite' && test.startsWith(`${name} > `));
      cancelled = cancelled.filter((test) => !within.includes(test));
      for (const [test] of within) report.add(test, 'failed', why());
      if (within.length > 0) continue;
      if (data.skip !== undefined || data.todo !== undefined) report.add(name, 'skipped');
      else if (type === 'test:pass') report.add(name, 'passed');
      else report.add(name, 'failed', why(), cause);
    }
    for (const [test, why] of cancelled) report.add(test, 'failed', why);
    report.leaves(process.exitCode);
    report.finish();
  };
  test.before(() => {});
  // Events come late: a test that never waits ends nothing before they are read.
  test.beforeEach(({ fullName, name }) => report.began(fullName ?? name));
  module.exports.ready = ready;
}
