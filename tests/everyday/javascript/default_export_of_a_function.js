// expect: passed
// file: fizz.js
// name: t.mjs
export default function fizz(n) {
    return n % 15 === 0 ? 'FizzBuzz' : n % 5 === 0 ? 'Buzz' : n % 3 === 0 ? 'Fizz' : `${n}`;
}
export const LIMIT = 100;
// --- tests ---
import fizz, { LIMIT } from './fizz.js';
import * as all from './fizz.js';
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
describe('fizz', () => {
  it('speaks', () => {
    assert.equal(fizz(15), 'FizzBuzz');
    assert.equal(all.default(9), 'Fizz');
    assert.equal(all.LIMIT, LIMIT);
  });
  it('lists', async () => {
    const { default: again } = await import('./fizz.js');
    assert.deepEqual([1, 2, 3].map((n) => again(n)), ['1', '2', 'Fizz']);
  });
});
