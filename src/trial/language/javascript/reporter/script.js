// Reports how a script ends that has no runner. It fails by an uncaught error or by its exit code. It passes
// once nothing is left to do and all exit handlers have run. A process that is ended before that leaves no
// report.
if (report !== null && report.add !== undefined) {
  const { createHook, executionAsyncId } = require('node:async_hooks');
  const { createRequire } = require('node:module');
  const { basename } = require('node:path');
  const { readFileSync } = require('node:fs');
  const name = basename(report.tests);
  const { apply } = Reflect;
  const { captureStackTrace } = Error;
  const { on, rawListeners, removeAllListeners: removeAll, removeListener: remove } = process;
  let hasFailed = false;
  const fail = (why, error = undefined) => {
    if (hasFailed) return;
    hasFailed = true;
    report.add(name, 'failed', why, error);
  };
  // The first of these events ends the script. The listeners cannot be removed, and later ones come too late.
  for (const event of ['uncaughtExceptionMonitor', 'unhandledRejection']) {
    process.on(event, (error) => {
      fail(report.describe(error, report.tests), error);
      report.finish();
    });
    const own = process._events[event];
    Object.defineProperty(process._events, event, { get: () => own, set: () => {}, configurable: false });
  }
  Object.defineProperty(process, '_events', { writable: false, configurable: false });
  // An exit code set between two callbacks cannot be reset.
  const look = () => {
    const said = process.exitCode;
    if (said !== undefined && said !== null && +said !== 0) fail(`exit code ${said}`);
  };
  // True once nothing is left to do. From then on nothing may end the process: every exit handler runs, and
  // an exit code set by one cannot be reset by the next.
  let isEnding = false;
  const begins = () => {
    isEnding = false;
    look();
  };
  createHook({ before: begins, after: look }).enable();
  const leave = process.reallyExit;
  process.reallyExit = (code) => {
    if (!isEnding) return apply(leave, process, [code]);
    if (code) fail(`exit code ${code}`);
    if (hasFailed) report.finish();
  };
  // Packages that remove types put a function of theirs in front of it, and then the end that node tells
  // would look like one that code tells.
  const { emit } = process;
  Object.defineProperty(process, 'emit', { get: () => emit, set: () => {}, configurable: false });
  const waiting = [];
  const end = (code) => {
    // A process ended before that reports nothing.
    if (isEnding) {
      for (let at = 0; at < waiting.length; at++) {
        apply(waiting[at], process, [code]);
        look();
      }
    }
    if (code) fail(`exit code ${code}`);
    if (isEnding && !hasFailed) report.add(name, 'passed');
    report.finish();
  };
  // Returns true if node itself calls from outside of all callbacks, with nothing else on the stack.
  const isNodes = () => {
    if (executionAsyncId() !== 0) return false;
    const { stackTraceLimit, prepareStackTrace } = Error;
    Error.stackTraceLimit = 20;
    // This listener, the code that calls listeners, and the code that calls the hook above and domains.
    const isOfNode = (call) => {
      const file = call.getFileName();
      const isOfDomains = file === 'node:domain' && call.getFunctionName() === 'topLevelDomainCallback';
      return !call.isEval() && (isOfDomains || file === 'node:internal/async_hooks');
    };
    Error.prepareStackTrace = (_, calls) => {
      for (let at = 2; at < calls.length; at++) if (!isOfNode(calls[at])) return false;
      return calls.length >= 2 && calls.length <= 4;
    };
    const seen = {};
    captureStackTrace(seen, isNodes);
    const is = seen.stack === true;
    Error.stackTraceLimit = stackTraceLimit;
    if (prepareStackTrace === undefined) delete Error.prepareStackTrace;
    else Error.prepareStackTrace = prepareStackTrace;
    return is;
  };
  const nothingIsLeft = () => {
    if (!isNodes()) return;
    isEnding = true;
    look();
    if (tape !== undefined) ofTape();
    if (hasFailed) report.finish();
    const all = apply(rawListeners, process, ['exit']);
    for (let at = 0; at < all.length; at++) if (all[at] !== end) waiting[waiting.length] = all[at];
    apply(removeAll, process, ['exit']);
    apply(on, process, ['exit', end]);
  };
  apply(on, process, ['beforeExit', nothingIsLeft]);
  apply(on, process, ['exit', end]);
  const ofTheEnd = (event) => event === 'exit' || event === 'beforeExit';
  // Node's own listener, which waits while modules are loaded. It comes before all other code, and node
  // removes it.
  let ofNode;
  // Keeps our listener for the end last, and prevents the removal of listeners for the end.
  for (const add of ['on', 'addListener', 'once', 'prependListener', 'prependOnceListener']) {
    const own = process[add];
    process[add] = function (event, ...rest) {
      apply(own, this, [event, ...rest]);
      if (event === 'exit' && rest[0]?.name === 'handleProcessExit') ofNode ??= rest[0];
      if (event === 'beforeExit') {
        apply(remove, process, [event, nothingIsLeft]);
        apply(on, process, [event, nothingIsLeft]);
      }
      return this;
    };
  }
  for (const take of ['removeListener', 'off', 'removeAllListeners']) {
    const own = process[take];
    process[take] = function (event, ...rest) {
      const isKept = event === undefined || (ofTheEnd(event) && (rest.length === 0 || rest[0] !== ofNode));
      return isKept ? this : apply(own, this, [event, ...rest]);
    };
  }
  // The assertion libraries that such a script may use, if installed.
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
  // Tape sets its exit code only while the process ends, where other code can end it first.
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
  // Without these a test never runs, or its result is lost.
  Object.defineProperty(globalThis, 'process', { value: process, writable: false, configurable: false });
  watch.keep(globalThis, 'global', ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']);
  watch.keep(process, 'process', ['exit', 'reallyExit', 'on', 'emit', 'listeners', 'rawListeners', 'off', 'removeListener', 'removeAllListeners']);
  watch.judges(globalThis);
  report.hide();
}
