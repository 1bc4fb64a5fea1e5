'use strict';
// Parts of the language and of libraries that runners and matchers rely on, which code under test must not
// change. They are saved before that code is loaded and compared whenever a test has ended. Parts that the
// tests replace themselves are exempt.
const watch = (() => {
  const { apply, defineProperty, getOwnPropertyDescriptor: described, getPrototypeOf: baseOf, ownKeys } = Reflect;
  const { is } = Object;
  const word = String;
  const { EventEmitter } = require('node:events');
  const names = [
    ...['Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'Symbol', 'BigInt', 'Promise', 'Map', 'Set'],
    ...['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError'],
    ...['AggregateError', 'WeakMap', 'WeakSet', 'WeakRef', 'RegExp', 'JSON', 'Math', 'Reflect', 'Proxy'],
    ...['ArrayBuffer', 'DataView', 'Uint8Array', 'Float64Array'],
  ];
  const kept = [];
  // Properties that runners set.
  const theirs = { __proto__: null, stackTraceLimit: true, prepareStackTrace: true, 'Symbol($$jest-protect-from-deletion)': true };
  const changed = { __proto__: null };
  let tell = () => {};

  // With `only`, members may be added, and nobody may replace the listed ones.
  const keep = (object, name, only) => {
    if (object === null || (typeof object !== 'object' && typeof object !== 'function')) return;
    const parts = { __proto__: null };
    const keys = only ?? ownKeys(object);
    for (const key of keys) parts[key] = described(object, key);
    kept[kept.length] = { object, name, only, parts, count: keys.length, base: baseOf(object) };
  };
  const realm = (all) => {
    for (const name of names) {
      keep(all[name], name);
      keep(all[name]?.prototype, `${name}.prototype`);
    }
    for (const list of [[].values.call(new all.Array()), new all.Map().values(), new all.Set().values()]) {
      keep(baseOf(list), 'iterators');
      keep(baseOf(baseOf(list)), 'iterators');
    }
  };
  // Global functions cannot be replaced even for a moment.
  const lock = (all) => {
    for (const name of ['Object', 'Array', 'Number', 'String', 'Reflect', 'Symbol', 'ArrayBuffer']) {
      for (const key of ownKeys(all[name])) {
        const part = described(all[name], key);
        if (typeof part.value !== 'function' || theirs[key]) continue;
        defineProperty(all[name], key, { value: part.value, writable: false, configurable: false });
      }
    }
  };
  // Programs that read settings load `node:domain`, which replaces parts of this, before any code under test.
  const settle = () => {
    for (const { object, parts } of kept) {
      if (object !== EventEmitter.prototype) continue;
      for (const key of ownKeys(parts)) parts[key] = described(object, key);
    }
  };
  // Parts kept from now on, until `forget`, belong to a file of tests. Runners take them apart afterwards.
  const begin = () => kept.length;
  const forget = (from) => (kept.length = from);
  const note = (name) => {
    if (changed[name]) return;
    changed[name] = true;
    tell(name);
  };
  // Uses nothing that could have been replaced.
  const look = () => {
    for (let at = 0; at < kept.length; at++) {
      const { object, name, only, parts, count, base } = kept[at];
      const keys = only ?? ownKeys(object);
      if (keys.length < count || baseOf(object) !== base) note(name);
      for (let k = 0; k < keys.length; k++) {
        const key = keys[k];
        const was = parts[key];
        const now = described(object, key);
        const isSame = is(now?.value, was?.value) && now?.get === was?.get && now?.set === was?.set;
        if (isSame && (was !== undefined || now === undefined)) continue;
        if (only !== undefined || !theirs[word(key)]) note(`${name}.${word(key)}`);
      }
    }
  };
  // The words that the text of the tests assigns to, or names in quotes.
  const belongsTo = (tests) => {
    for (const [, key] of tests.matchAll(/\.([A-Za-z_$][\w$]*)\s*=(?![=>])/g)) theirs[key] = true;
    for (const [, , key] of tests.matchAll(/(['"`])([A-Za-z_$][\w$]*)\1/g)) theirs[key] = true;
  };
  // The assertion functions of tests, and the objects behind them.
  const judges = (all) => {
    for (const symbol of Object.getOwnPropertySymbols(all)) {
      const matchers = all[symbol]?.matchers;
      if (matchers !== undefined) keep(matchers, 'matchers', ownKeys(matchers));
    }
    const words = ['expect', 'test', 'it', 'describe', 'assert'].filter((name) => name in all);
    keep(all, 'global', words);
    for (const name of words) keep(all[name], name, ownKeys(all[name]));
    lock(all);
  };

  realm(globalThis);
  const stream = require('node:stream');
  keep(EventEmitter.prototype, 'EventEmitter.prototype');
  for (const name of ['Readable', 'Writable', 'Duplex', 'Transform', 'PassThrough']) {
    keep(stream[name].prototype, `${name}.prototype`);
  }
  const assert = require('node:assert');
  keep(assert, 'assert');
  keep(assert.strict, 'assert.strict');
  keep(assert.AssertionError, 'AssertionError');
  keep(assert.AssertionError.prototype, 'AssertionError.prototype');
  const { MessagePort } = require('node:worker_threads');
  const send = MessagePort.prototype.postMessage;
  const gate = (before) => {
    MessagePort.prototype.postMessage = function postMessage(...told) {
      before(told[0]);
      return apply(send, this, told);
    };
    keep(MessagePort.prototype, 'MessagePort.prototype');
  };

  // The debugger could read everything.
  const refuse = () => {
    throw new Error('there is no debugger here');
  };
  defineProperty(require('node:inspector').Session.prototype, 'connect', { value: refuse, configurable: false });
  const { binding } = process;
  process.binding = (name) => ('' + name === 'inspector' ? refuse() : binding.call(process, name));
  return { begin, belongsTo, forget, gate, judges, keep, look, realm, settle, listen: (to) => (tell = to) };
})();
