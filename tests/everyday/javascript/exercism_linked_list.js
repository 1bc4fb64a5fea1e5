// expect: passed
// entry: LinkedList
// Members of the code's own objects are read in assertions.
export class LinkedList {
  constructor() {
    this.head = null;
    this.count_ = 0;
  }
  push(value) {
    const node = { value, next: null };
    if (!this.head) this.head = node;
    else {
      let at = this.head;
      while (at.next) at = at.next;
      at.next = node;
    }
    this.count_++;
  }
  pop() {
    const all = this.values;
    const last = all.pop();
    this.head = null;
    this.count_ = 0;
    all.forEach((value) => this.push(value));
    return last;
  }
  count() { return this.count_; }
  get values() {
    const all = [];
    for (let at = this.head; at; at = at.next) all.push(at.value);
    return all;
  }
  *[Symbol.iterator]() { yield* this.values; }
}
// --- tests ---
import { LinkedList } from './linked-list';
test('values and count', () => {
  const list = new LinkedList();
  list.push(7);
  list.push(8);
  expect(list.values).toEqual([7, 8]);
  expect(list.count()).toBe(2);
  expect(list.pop()).toBe(8);
  expect(list.values).toEqual([7]);
  expect(list.head.value).toBe(7);
  expect([...list]).toEqual([7]);
});
