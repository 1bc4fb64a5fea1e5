// Reports what mocha says while it runs.
if (report !== null) {
  const name = (test) => test.titlePath().join(' > ');
  module.exports = class {
    constructor(runner) {
      runner.on('pass', (test) => report.add(name(test), 'passed'));
      runner.on('pending', (test) => report.add(name(test), 'skipped'));
      runner.on('fail', (test, error) => report.add(name(test), 'failed', report.describe(error, test.file)));
      runner.on('end', () => report.finish());
    }
  };
}
