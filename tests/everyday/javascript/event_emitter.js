// expect: passed
// file: emitter.js
// entry: Emitter
class Emitter {
    #listeners = new Map();
    on(name, listener) {
        this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
        return () => this.off(name, listener);
    }
    off(name, listener) {
        this.#listeners.set(name, (this.#listeners.get(name) ?? []).filter((each) => each !== listener));
    }
    emit(name, ...args) {
        const all = this.#listeners.get(name) ?? [];
        all.forEach((listener) => listener(...args));
        return all.length > 0;
    }
}
module.exports = Emitter;
// --- tests ---
const Emitter = require('./emitter');
const { test } = require('node:test');
const assert = require('node:assert');
test('tells', () => {
  const emitter = new Emitter();
  const seen = [];
  const listener = (...args) => seen.push(args);
  const off = emitter.on('a', listener);
  assert.equal(emitter.emit('a', 1, { b: 2 }), true);
  off();
  assert.equal(emitter.emit('a', 2), false);
  emitter.on('a', listener);
  emitter.off('a', listener);
  emitter.emit('a', 3);
  assert.deepEqual(seen, [[1, { b: 2 }]]);
});
