'use strict';
// Comes before everything else in the process that runs the tests, and keeps the way to the report to
// itself: `report` is for the part below only, and what it needs is taken before any other code could
// replace it.
const report = (() => {
  const numbers = process.argv.slice(-2);
  // Threads and processes that a runner starts have no report.
  if (!require('node:worker_threads').isMainThread || !numbers.every((word) => /^\d+$/.test(word))) return null;
  process.argv.length -= 2;
  const { closeSync, readFileSync, writeSync } = require('node:fs');
  const { stringify } = JSON;
  const leave = process.reallyExit.bind(process);
  const [from, to] = numbers.map(Number);
  const { nonce } = JSON.parse(readFileSync(from, 'utf8'));
  closeSync(from);

  const most = 20;
  const seen = { __proto__: null };
  let tests = '';
  let messages = 0;
  let complaint = '';
  // Only text goes into the record: what code under test has replaced can change what is said, but not what
  // is meant.
  const quote = (text) => stringify('' + text);
  const short = (text) => {
    const plain = ('' + text).replace(/\u001b\[[0-9;]*m/g, '').split(/\n\s+at /)[0];
    return plain.replace(/\s+/g, ' ').trim().slice(0, 300);
  };

  const add = (name, outcome, message = '') => {
    const count = (seen[name] = (seen[name] ?? 0) + 1);
    const told = message !== '' && messages++ < most ? short(message) : '';
    const line = `[${quote(count > 1 ? `${name} (${count})` : name)},${quote(outcome)},${quote(told)}]`;
    tests += tests === '' ? line : ',' + line;
  };
  const complain = (message) => {
    complaint = complaint === '' ? short(message) || 'the tests could not be loaded' : complaint;
  };
  const finish = () => {
    writeSync(to, `{"nonce":${quote(nonce)},"tests":[${tests}],"complaint":${quote(complaint)}}\n`);
    leave(0);
  };
  // Two reports are none.
  const spoil = () => writeSync(to, 'a second report\n');
  // What an error says, and where in a file of this name it happened.
  const describe = (error, file) => {
    const said = '' + (error?.message ?? error);
    const base = file === undefined ? '' : ('' + file).split(/[\\/]/).pop();
    const at = base === '' ? -1 : ('' + error?.stack).indexOf(base + ':');
    const line = at < 0 ? null : /^\d+/.exec(('' + error.stack).slice(at + base.length + 1));
    return line === null ? said : `${short(said)} (${base}:${line[0]})`;
  };

  const assert = require('node:assert');
  Object.freeze(assert);
  Object.freeze(assert.strict);
  writeSync(to, 'started\n');
  return { add, complain, describe, finish, spoil };
})();
