// expect: passed
// file: map.js
// name: t.mjs
export const f = (xs, g) => xs.map((x) => g(x));
// --- tests ---
import { test, mock, describe, it, before, after } from 'node:test';
import assert from 'node:assert/strict';
import { f } from './map.js';
test('mock.fn', () => {
  const g = mock.fn((x) => x * 2);
  assert.deepEqual(f([1, 2], g), [2, 4]);
  assert.equal(g.mock.callCount(), 2);
  assert.deepEqual(g.mock.calls[1].arguments, [2]);
  assert.equal(g.mock.calls[0].result, 2);
});
test('a context', async (t) => {
  const g = t.mock.fn();
  f([1], g);
  assert.equal(g.mock.calls.length, 1);
  await t.test('inner', () => assert.deepEqual(f([], g), []));
  await t.test('inner 2', async (t) => { await t.test('innermost', () => assert.deepEqual(f([3], (x) => x), [3])); });
});
test('with options', { skip: false, timeout: 1000 }, () => assert.deepEqual(f([1], String), ['1']));
