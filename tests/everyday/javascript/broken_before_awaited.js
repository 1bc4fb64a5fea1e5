// expect: passed
// Jest does not mind a promise that breaks before a test waits for it.
function f(call) {
    return (...args) => new Promise((resolve, reject) => call(...args, (error, result) => (error ? reject(error) : resolve(result))));
}
// --- tests ---
import { describe, expect, test } from '@jest/globals';
import { f } from './promisify';
describe('f', () => {
  const kept = f((x, done) => setTimeout(() => done(null, x), 2))('a');
  const broken = f((_, done) => setTimeout(() => done(new Error('no')), 2))('b');
  test('keeps', async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    await expect(kept).resolves.toBe('a');
  });
  test('breaks', () => expect(broken).rejects.toThrow('no'));
});
