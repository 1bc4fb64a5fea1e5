// Reports vitest's results at its end: tasks in older versions, test modules in newer ones.
if (report !== null && report.add === undefined) {
  // A thread with tests asks for their file before it runs them, and reports them in messages.
  let isBegun = false;
  watch.gate((message) => {
    const asks = (word) => typeof word === 'string' && word.includes(report.tests);
    if (!isBegun && message?.m?.startsWith?.('fetch') && message.a?.some?.(asks)) {
      isBegun = true;
      const expect = globalThis[Symbol.for('expect-global')];
      for (let part = expect?.(0); part && part !== Object.prototype; part = Object.getPrototypeOf(part)) {
        watch.keep(part, 'matchers', Reflect.ownKeys(part));
      }
      watch.judges(globalThis);
    }
    watch.look();
  });
} else if (report !== null) {
  // Threads of vitest get options of their own. The code above has to come first in them, too.
  const threads = require('node:worker_threads');
  threads.Worker = class Worker extends threads.Worker {
    constructor(file, { execArgv = process.execArgv, ...options } = {}) {
      const first = execArgv.includes(__filename) ? [] : ['--require', __filename];
      super(file, { ...options, execArgv: [...first, ...execArgv] });
    }
  };
  require('node:module').syncBuiltinESMExports();
  // Vite resolves the address of a server that it does not start. There is no network to ask.
  const { promises } = require('node:dns');
  const lookup = promises.lookup;
  promises.lookup = async (name, ...rest) =>
    name === 'localhost' ? { address: '127.0.0.1', family: 4 } : lookup(name, ...rest);
  const outcomes = { __proto__: null, pass: 'passed', passed: 'passed', fail: 'failed', failed: 'failed' };
  const add = (name, state, errors, file) => {
    const outcome = outcomes[state] ?? 'skipped';
    const [error] = errors ?? [];
    report.add(name.join(' > '), outcome, outcome === 'failed' ? report.describe(error, file) : '', error);
  };
  const complain = (errors) => errors?.forEach((error) => report.complain(error?.message ?? error));
  const walk = (task, above, file) => {
    const name = [...above, task.name];
    if (task.type === 'test' || task.type === 'custom') add(name, task.result?.state, task.result?.errors, file);
    for (const inner of task.tasks ?? []) walk(inner, name, file);
  };
  const titles = ({ name, parent }) => (parent.type === 'suite' ? [...titles(parent), name] : [name]);
  module.exports = class {
    onTestCaseReady(test) {
      report.began(titles(test).join(' > '));
    }

    onTestRunEnd(modules, errors) {
      for (const module of modules) {
        complain(module.errors());
        for (const test of module.children.allTests()) {
          add(titles(test), test.result()?.state, test.result()?.errors, module.moduleId);
        }
        for (const suite of module.children.allSuites()) complain(suite.errors());
      }
      complain(errors);
      report.finish();
    }

    onFinished(files, errors) {
      for (const file of files) {
        if (file.tasks.length === 0) complain(file.result?.errors);
        for (const task of file.tasks) walk(task, [], file.filepath);
      }
      complain(errors);
      report.finish();
    }
  };
}
