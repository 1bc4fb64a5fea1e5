// expect: passed
// file: queue.js
// name: t.mjs
// entry: PriorityQueue
export class PriorityQueue {
    #heap = [];
    constructor(compare = (a, b) => a - b) { this.compare = compare; }
    get size() { return this.#heap.length; }
    isEmpty() { return this.size === 0; }
    push(...items) {
        for (const item of items) {
            this.#heap.push(item);
            this.#heap.sort(this.compare);
        }
        return this.size;
    }
    pop() { return this.#heap.shift(); }
    peek() { return this.#heap[0]; }
    toArray() { return [...this.#heap]; }
    *[Symbol.iterator]() { while (!this.isEmpty()) yield this.pop(); }
}
// --- tests ---
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { PriorityQueue } from './queue.js';
describe('PriorityQueue', () => {
  it('orders', () => {
    const queue = new PriorityQueue();
    assert.equal(queue.push(3, 1, 2), 3);
    assert.equal(queue.peek(), 1);
    assert.deepEqual(queue.toArray(), [1, 2, 3]);
    assert.equal(queue.pop(), 1);
    assert.deepEqual([...queue], [2, 3]);
    assert.ok(queue.isEmpty());
    assert.equal(queue.pop(), undefined);
  });
  it('compares objects of the tests', () => {
    const queue = new PriorityQueue((a, b) => b.at - a.at);
    const [early, late] = [{ at: 1 }, { at: 2 }];
    queue.push(early, late);
    assert.equal(queue.pop(), late);
    assert.equal(queue.peek(), early);
  });
});
