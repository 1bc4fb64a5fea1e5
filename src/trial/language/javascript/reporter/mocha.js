// Reports mocha's events while it runs.
if (report !== null && report.add !== undefined) {
  // Older versions have no `titlePath`.
  const titles = (part) => (part?.title ? [...titles(part.parent), part.title] : []);
  const name = (test) => (test.titlePath?.() ?? titles(test)).join(' > ');
  module.exports = class {
    constructor(runner) {
      runner.on('test', (test) => report.began(name(test)));
      runner.on('pass', (test) => report.add(name(test), 'passed'));
      runner.on('pending', (test) => report.add(name(test), 'skipped'));
      runner.on('fail', (test, error) => {
        const why = report.describe(error, test.file);
        const left = [];
        const take = (other) => other.state === undefined && !(other.isPending?.() ?? other.pending) && left.push(other);
        // The tests that are not run as a hook failed.
        if (test.type === 'hook') test.parent.eachTest(take);
        for (const one of left.length > 0 ? left : [test]) report.add(name(one), 'failed', why, error);
      });
      runner.on('end', () => report.end());
    }

    // Mocha has loaded its reporter, and loads the tests files next.
    static begin() {
      const mocha = require('node:module').createRequire(process.argv[1])('mocha');
      for (const part of ['Runner', 'Runnable', 'Test', 'Suite', 'Hook', 'Context']) {
        watch.keep(mocha[part]?.prototype, `mocha.${part}.prototype`);
      }
      watch.judges(globalThis);
      report.hide();
    }
  };
}
