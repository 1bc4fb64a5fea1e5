// expect: passed
// entry: CustomSet
// A set of one's own, asked for its items.
export class CustomSet {
  constructor(items = []) {
    this.items = [...new Set(items)];
  }
  empty() { return this.items.length === 0; }
  contains(item) { return this.items.includes(item); }
  add(item) {
    if (!this.contains(item)) this.items.push(item);
    return this;
  }
  subset(other) { return this.items.every((item) => other.contains(item)); }
  eql(other) { return this.subset(other) && other.subset(this); }
  union(other) { return new CustomSet([...this.items, ...other.items]); }
}
// --- tests ---
import { CustomSet } from './custom-set';
describe('CustomSet', () => {
  test('empty', () => expect(new CustomSet().empty()).toBe(true));
  test('contains', () => {
    expect(new CustomSet([1, 2, 3]).contains(1)).toBe(true);
    expect(new CustomSet([1, 2, 3]).contains(4)).toBe(false);
  });
  test('adds', () => {
    const actual = new CustomSet([1, 2, 4]).add(3);
    const expected = new CustomSet([1, 2, 3, 4]);
    expect(actual.eql(expected)).toBe(true);
  });
  test('union', () => expect(new CustomSet([1, 3]).union(new CustomSet([2])).eql(new CustomSet([3, 2, 1]))).toBe(true));
});
