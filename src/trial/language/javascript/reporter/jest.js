// Reports what jest says at its end.
if (report !== null) {
  const outcomes = { __proto__: null, passed: 'passed', failed: 'failed' };
  module.exports = class {
    onRunComplete(_, results) {
      for (const file of results.testResults) {
        if (file.testResults.length === 0 && file.failureMessage) report.complain(file.failureMessage);
        for (const test of file.testResults) {
          const name = [...test.ancestorTitles, test.title].join(' > ');
          const [message = ''] = test.failureMessages ?? [];
          const at = report.describe({ message: '', stack: message }, file.testFilePath);
          report.add(name, outcomes[test.status] ?? 'skipped', message === '' ? '' : message.split(/\n\s+at /)[0] + at);
        }
      }
      report.finish();
    }

    getLastError() {}
  };
}
