// expect: passed
// runner: vitest
// file: clock.js
// entry: Clock
// A class with text, sums and equality of its own, under tests that name it.
export class Clock {
  constructor(hours, minutes = 0) {
    this.minutes = (((hours * 60 + minutes) % 1440) + 1440) % 1440;
  }
  toString() {
    const two = (n) => String(n).padStart(2, '0');
    return `${two(Math.floor(this.minutes / 60))}:${two(this.minutes % 60)}`;
  }
  plus(minutes) {
    return new Clock(0, this.minutes + minutes);
  }
  minus(minutes) {
    return this.plus(-minutes);
  }
  equals(other) {
    return this.minutes === other.minutes;
  }
}
// --- tests ---
import { Clock } from './clock';

describe('Clock', () => {
  test('on the hour', () => expect(new Clock(8).toString()).toEqual('08:00'));
  test('negative minutes roll over', () => expect(new Clock(1, -40).toString()).toEqual('00:20'));
  test('add', () => expect(new Clock(10, 0).plus(3).toString()).toEqual('10:03'));
  test('subtract', () => expect(new Clock(0, 3).minus(4).toString()).toEqual('23:59'));
  test('equal', () => expect(new Clock(15, 37).equals(new Clock(15, 37))).toBe(true));
  test('not equal', () => expect(new Clock(15, 36).equals(new Clock(15, 37))).toBe(false));
  test('as text in a template', () => expect(`${new Clock(11, 9)}`).toBe('11:09'));
});
