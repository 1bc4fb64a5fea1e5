// expect: passed
// file: store.js
// entry: Store
const { EventEmitter } = require('events');
class Store extends EventEmitter {
    constructor() {
        super();
        this.state = {};
    }
    set(key, value) {
        this.state[key] = value;
        this.emit('change', key, value);
    }
}
module.exports = { Store };
// --- tests ---
const { Store } = require('./store');
const { EventEmitter } = require('events');
const store = new Store();
const changes = [];
store.on('change', (key, value) => changes.push([key, value]));
store.set('a', 1);
assert.deepStrictEqual(changes, [['a', 1]]);
assert.deepStrictEqual(store.state, { a: 1 });
assert(store instanceof EventEmitter);
assert.equal(store.listenerCount('change'), 1);
