// expect: passed
function f(emitter, n) {
    return new Promise((resolve) => {
        const seen = [];
        const listen = (x) => {
            seen.push(x);
            if (seen.length === n) {
                emitter.off('data', listen);
                resolve(seen);
            }
        };
        emitter.on('data', listen);
    });
}
// --- tests ---
const { EventEmitter } = require('node:events');
test('collects', async () => {
  const emitter = new EventEmitter();
  const all = f(emitter, 2);
  emitter.emit('data', 1);
  emitter.emit('data', 2);
  emitter.emit('data', 3);
  expect(await all).toEqual([1, 2]);
  expect(emitter.listenerCount('data')).toBe(0);
});
