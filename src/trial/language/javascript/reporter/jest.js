// Reports jest's results at its end, and compares them with the events seen while the tests ran.
if (report !== null && report.add !== undefined) {
  const { createRequire } = require('node:module');
  const { apply } = Reflect;
  const { add: put, has } = Set.prototype;
  const outcomes = { __proto__: null, passed: 'passed', failed: 'failed' };
  const bodies = new Set();
  const failed = { __proto__: null };
  let own = '';

  // The error of a file that does not parse, with its place. Jest puts it below its advice, node and swc put
  // the place elsewhere.
  const reason = (said) => {
    const plain = ('' + said).replace(/\u001b\[[0-9;]*m/g, '').replace(/^\s*● Test suite failed to run\s*/, '');
    const [, own = plain] = /\n\s*Details:\s*\n([^]*)/.exec(plain) ?? [];
    const [, babel] = /^\s*(SyntaxError: .*\(\d+:\d+\))\s*\n/.exec(own) ?? [];
    if (babel !== undefined) return babel;
    const [, place, error] = /^\s*(\/.*:\d+)\n[^]*?\n\s*(SyntaxError: .*)/.exec(own) ?? [];
    if (error !== undefined) return `${error} (${place})`;
    const [, swc, at] = /^\s*[x×] (.*)\n\s*[,╭][-─]\[(.*?:\d+)/.exec(own) ?? [];
    return swc === undefined ? own : `SyntaxError: ${swc} (${at})`;
  };

  const nameOf = ({ name, parent }) => (parent?.parent === undefined ? name : `${nameOf(parent)} > ${name}`);
  const note = ({ name, test, fn }) => {
    watch.look();
    if (name === 'add_test') apply(put, bodies, [fn]);
    if (name === 'test_fn_start') report.began(nameOf(test));
    if (name === 'test_fn_start' && !apply(has, bodies, [test.fn])) report.spoil();
    // A test expected to fail passes this way. A retried test has a second chance.
    if (name === 'test_fn_failure' && test.failing !== true) failed[nameOf(test)] = true;
    if (name === 'test_retry') failed[nameOf(test)] = false;
  };

  module.exports = class {
    // Runs before the project's own runner of tests, which gets the globals that the tests will see.
    static async runner(globals, config, environment, runtime, path, ...rest) {
      const begin = (load) => (file, ...more) => {
        if (file === path) {
          watch.realm(environment.global);
          watch.judges(environment.global);
          report.hide();
        }
        return apply(load, runtime, [file, ...more]);
      };
      runtime.requireModule = begin(runtime.requireModule);
      runtime.unstable_importModule = begin(runtime.unstable_importModule);
      const told = environment.handleTestEvent;
      environment.handleTestEvent = (event, state) => {
        note(event);
        return told === undefined ? undefined : apply(told, environment, [event, state]);
      };
      const runner = createRequire(own)(own);
      const from = watch.begin();
      const result = await (runner.default ?? runner)(globals, config, environment, runtime, path, ...rest);
      watch.look();
      watch.forget(from);
      return result;
    }

    onTestFileStart({ context }) {
      if (own === '') watch.settle();
      own = context.config.testRunner;
      if (!own.includes('jest-circus')) return;
      context.config = { ...context.config, testRunner: `${__dirname}/runner.cjs` };
    }

    onRunComplete(_, results) {
      // An error before any file was loaded, such as that of a transformer.
      const whole = results.runExecError;
      if (whole) report.complain(reason(whole.message ?? whole.stack ?? whole));
      for (const file of results.testResults) {
        // An error of the tests file while it was loaded.
        const said = file.failureMessage || file.testExecError?.message || file.testExecError?.stack;
        if (file.testResults.length === 0 && said) report.complain(reason(said));
        for (const test of file.testResults) {
          const name = [...test.ancestorTitles, test.title].join(' > ');
          const [message = ''] = test.failureMessages ?? [];
          const details = test.failureDetails?.[0];
          const error = { message: details?.message, stack: message };
          const at = report.describe({ message: '', stack: message }, file.testFilePath);
          const outcome = failed[name] === true ? 'failed' : (outcomes[test.status] ?? 'skipped');
          const values = details?.matcherResult ?? details;
          // A difference in lines.
          const isLines = values?.expected !== undefined && /- Expected[^]*\+ Received/.test(message);
          const said = (isLines ? report.compared(values) : undefined) ?? message.split(/\n\s+at /)[0];
          report.add(name, outcome, message === '' ? '' : said + at, error);
        }
      }
      // The runner of a file no longer catches errors.
      process.on('uncaughtExceptionMonitor', (error) => report.fails(error));
      report.end(report.leaves);
    }

    getLastError() {}
  };
}
