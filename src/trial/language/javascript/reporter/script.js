// Reports how a script ends that says nothing else: it fails by an error that nobody catches or by its exit
// code, and passes once nothing is left to do. Whoever ends the process before that ends it without a report.
if (report !== null && report.add !== undefined) {
  const { createHook } = require('node:async_hooks');
  const { createRequire } = require('node:module');
  const { basename } = require('node:path');
  const { readFileSync } = require('node:fs');
  const name = basename(report.tests);
  let hasFailed = false;
  const fail = (why) => {
    if (hasFailed) return;
    hasFailed = true;
    report.add(name, 'failed', why);
  };
  // The first of these ends all: nobody takes them away, and others come too late.
  for (const event of ['uncaughtExceptionMonitor', 'unhandledRejection']) {
    process.on(event, (error) => {
      fail(report.describe(error, report.tests));
      report.finish();
    });
    const own = process._events[event];
    Object.defineProperty(process._events, event, { get: () => own, set: () => {}, configurable: false });
  }
  Object.defineProperty(process, '_events', { writable: false, configurable: false });
  // An exit code that was said between two callbacks cannot be taken back.
  const look = () => {
    const said = process.exitCode;
    if (said !== undefined && said !== null && +said !== 0) fail(`exit code ${said}`);
  };
  createHook({ before: look, after: look }).enable();
  process.on('beforeExit', () => {
    look();
    if (tape !== undefined) ofTape();
    if (!hasFailed) report.add(name, 'passed');
    report.finish();
  });
  process.on('exit', (exit) => {
    if (exit !== 0) fail(`exit code ${exit}`);
    report.finish();
  });
  // What judges in such a script, where it is installed.
  const load = createRequire(report.tests);
  const installed = (library) => {
    try {
      return load(library);
    } catch {
      return undefined;
    }
  };
  const text = readFileSync(report.tests, 'utf8');
  const imports = (library) => [`'${library}'`, `"${library}"`].some((word) => text.includes(word));
  const tape = imports('tape') ? installed('tape') : undefined;
  // It says its exit code only while the process ends, where others can end it first.
  const ofTape = () => {
    const { _tests: tests, _results: results, _exitCode: exit } = tape.getHarness();
    if (tests.length === 0) report.finish();
    for (const test of tests) {
      const isMeant = results._only === undefined || results._only === null || test === results._only;
      if (isMeant && !test.ended) fail(`${test.name}: it came to no end`);
    }
    if (exit !== 0) fail('a check failed');
  };
  if (tape !== undefined) {
    watch.keep(tape, 'tape');
    watch.keep(tape.Test.prototype, 'tape.Test.prototype');
  }
  if (imports('uvu')) {
    watch.keep(installed('uvu'), 'uvu');
    watch.keep(installed('uvu/assert'), 'uvu/assert');
  }
  watch.keep(process, 'process', ['exit', 'reallyExit', 'on', 'emit', 'listeners', 'removeListener', 'removeAllListeners']);
  watch.judges(globalThis);
  report.hide();
}
