// Comes before everything else in the process that runs the tests, and keeps the report pipe to itself.
// `report` is for the part below only. All functions it needs are saved before other code could replace them.
const report = (() => {
  const threads = require('node:worker_threads');
  const { closeSync, readFileSync, readSync, writeSync } = require('node:fs');
  const { apply } = Reflect;
  const { charCodeAt } = String.prototype;
  const { fromCharCode } = String;
  // The changes that threads report, as text in memory that only the first code in each thread gets.
  const place = 'own memory';
  if (!threads.isMainThread) {
    const given = threads.getEnvironmentData(place);
    threads.setEnvironmentData(place, undefined);
    if (given === undefined) return null;
    const { memory, tests } = given;
    let end = memory.indexOf(0);
    watch.belongsTo(readFileSync(tests, 'utf8'));
    watch.listen((name) => {
      if (end + name.length >= memory.length) return;
      for (let at = 0; at < name.length; at++) memory[end++] = apply(charCodeAt, name, [at]);
      memory[end++] = 10;
    });
    return { tests };
  }
  const numbers = process.argv.slice(-2);
  // Processes that a runner starts have no report pipe.
  if (!numbers.every((word) => /^\d+$/.test(word))) return null;
  process.argv.length -= 2;
  const { stringify } = JSON;
  const leave = process.reallyExit.bind(process);
  const { setTimeout } = globalThis;
  const once = process.prependOnceListener.bind(process);
  // Milliseconds that a process has to end by itself behind its tests.
  const ending = 2000;
  const [from, to] = numbers.map(Number);
  // Bytes outside of the heap, so that a heap snapshot does not hold them: `{"nonce":"…"}`.
  const request = Buffer.alloc(64);
  readSync(from, request);
  closeSync(from);
  const tests = process.argv.at(-1);
  watch.belongsTo(readFileSync(tests, 'utf8'));
  const memory = new Uint8Array(new SharedArrayBuffer(1 << 12));
  threads.setEnvironmentData(place, { memory, tests });

  const most = 20;
  const seen = { __proto__: null };
  let told = '';
  let messages = 0;
  let complaint = '';
  let changed = '';
  let raised = '';
  // Errors behind the tests by which the runner fails though they passed.
  let behind = '';
  let hasFailed = false;
  // Only text goes into the record. Replaced functions can change a message, but not its structure.
  const quote = (text) => stringify('' + text);
  const short = (text) => {
    const plain = ('' + text).replace(/\u001b\[[0-9;]*m/g, '').split(/\n\s+at /)[0];
    // Lines and spaces inside of them stay: values may differ by them, and differences are told in lines.
    return plain.replace(/\s*\n/g, '\n').replace(/\t/g, ' ').trim().slice(0, 300);
  };

  // File and line of the first call in the stack of an error, which stands behind its message.
  const arose = (error) => {
    const [stack, said] = ['' + error?.stack, '' + (error?.message ?? '')];
    const [, first = ''] = /\n\s+at (.*)/.exec(stack.slice(stack.indexOf(said) + said.length)) ?? [];
    return /(?:file:\/\/)?(\/[^()]*?):(\d+)(?::\d+)?\)?$/.exec(first);
  };
  const differs = (name) => (changed += (changed === '' ? '' : ',') + quote(name));
  watch.listen(differs);
  const only = JSON.parse(readFileSync(`${__dirname}/only.json`, 'utf8'));
  // The tests that were found, of those asked for by their title or by their last titles.
  const found = { __proto__: null };
  const isAsked = (name) => {
    const titles = ` > ${name} > `;
    let is = only.length === 0;
    for (let i = 0; i < only.length; i++) if (titles.includes(` > ${only[i]} > `)) is = found[i] = true;
    return is;
  };
  // `error` is what the test failed by.
  const add = (name, outcome, message = '', error = undefined) => {
    watch.look();
    if (outcome === 'failed') hasFailed = true;
    if (!isAsked(name)) return;
    const count = (seen[name] = (seen[name] ?? 0) + 1);
    const why = message !== '' && messages++ < most ? short(message) : '';
    const test = quote(count > 1 ? `${name} (${count})` : name);
    const line = `[${test},${quote(outcome)},${quote(why)}]`;
    told += told === '' ? line : ',' + line;
    const place = why === '' ? null : arose(error);
    if (place !== null) raised += `${raised === '' ? '' : ','}[${test},${quote(place[1])},${place[2] | 0}]`;
  };
  const complain = (message) => {
    complaint = complaint === '' ? short(message) || 'the tests could not be loaded' : complaint;
  };
  const written = () => {
    for (let i = 0; i < only.length; i++) if (!found[i]) complain(`there is no test "${only[i]}"`);
    watch.look();
    for (let at = 0, name = ''; memory[at] > 0; at++) {
      if (memory[at] !== 10) name += fromCharCode(memory[at]);
      else {
        differs(name);
        name = '';
      }
    }
    return `","tests":[${told}],"complaint":${quote(complaint)},"changed":[${changed}],"raised":[${raised}]`;
  };
  const close = (rest, held) => {
    writeSync(to, '{"nonce":"');
    writeSync(to, request, 10, 32);
    writeSync(to, `${rest},"held":${held},"behind":${quote(behind)}}\n`);
    leave(0);
  };
  const finish = () => close(written(), false);
  // Each error behind the tests, once.
  const errors = { __proto__: null };
  const fails = (why) => {
    const said = '' + short(why) || 'an error';
    if (errors[said] || behind.length > 1000) return;
    errors[said] = true;
    behind += behind === '' ? said : `; ${said}`;
  };
  // A test that failed explains an exit code.
  const leaves = (code) => {
    if (code && !hasFailed && behind === '') fails(`exit code ${code}`);
  };
  // For runners that wait until nothing is left to do: as the process ends, or after a while with a word on that.
  // `heard` gets the exit code of a runner that fails by it.
  const end = (heard = () => {}) => {
    const rest = written();
    once('exit', (code) => {
      heard(code);
      close(rest, false);
    });
    setTimeout(() => close(rest, true), ending).unref();
  };
  // Names the test that does not end.
  const began = (name) => writeSync(to, `began ${quote(('' + name).slice(0, 300))}\n`);
  // Two reports make the record invalid.
  const spoil = () => writeSync(to, 'a second report\n');
  const { inspect, types } = require('node:util');
  const width = 100;
  const atMost = { depth: 4, maxArrayLength: 200, maxStringLength: 1000 };
  const form = { ...atMost, breakLength: Infinity, compact: true, customInspect: false };
  const inLine = (value) => {
    const text = types.isNativeError(value) ? `${value.name}: ${value.message}` : inspect(value, form);
    return text.replace(/\s*\n\s*/g, ' ');
  };
  // The two values of a failed comparison, each in one line and from where they differ; nothing where they
  // look alike.
  const compared = ({ actual, expected }) => {
    try {
      const [got, wanted] = [inLine(actual), inLine(expected)];
      if (got === wanted) return undefined;
      let same = 0;
      while (got[same] === wanted[same]) same++;
      const from = Math.max(got.length, wanted.length) > width && same > width / 2 ? same - width / 5 : 0;
      const cut = (text) => {
        const rest = from > 0 ? `…${text.slice(from)}` : text;
        return rest.length > width ? `${rest.slice(0, width - 1)}…` : rest;
      };
      return `got ${cut(got)}, expected ${cut(wanted)}`;
    } catch {
      return undefined;
    }
  };
  // Of messages that show a difference in lines, the values say more where there is one line.
  const shows = /^\+ actual - expected|^should loosely deep-equal/m;
  // The message of an error, and its place in a file of this name.
  const describe = (error, file) => {
    const message = '' + (error?.message ?? error);
    const isLines = error?.code === 'ERR_ASSERTION' && error.generatedMessage && shows.test(message);
    const said = (isLines ? compared(error) : undefined) ?? message;
    const base = file === undefined ? '' : ('' + file).split(/[\\/]/).pop();
    const at = base === '' ? -1 : ('' + error?.stack).indexOf(base + ':');
    const line = at < 0 ? null : /^\d+/.exec(('' + error.stack).slice(at + base.length + 1));
    return line === null ? said : `${short(said)} (${base}:${line[0]})`;
  };
  // Once the tests begin, the reporter is no longer handed out.
  const hide = () => {
    delete require.cache[__filename];
    module.exports = {};
  };

  const assert = require('node:assert');
  Object.freeze(assert);
  Object.freeze(assert.strict);
  writeSync(to, 'started\n');
  return { add, began, compared, complain, describe, end, fails, finish, hide, leaves, spoil, tests };
})();
