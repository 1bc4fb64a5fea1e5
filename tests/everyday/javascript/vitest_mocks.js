// expect: passed
// runner: vitest
// file: retry.js
// name: t.mjs
export async function f(load, retries) {
    for (let i = 0; ; i++) {
        try {
            return await load(i);
        } catch (error) {
            if (i >= retries) throw error;
        }
    }
}
// --- tests ---
import { describe, expect, it, vi, beforeEach, assert } from 'vitest';
import { f } from './retry';
describe('retry', () => {
  const load = vi.fn();
  beforeEach(() => { load.mockReset(); });
  it('tries again', async () => {
    load.mockRejectedValueOnce(new Error('no')).mockResolvedValueOnce('yes');
    expect(await f(load, 3)).toBe('yes');
    expect(load).toHaveBeenCalledTimes(2);
  });
  it('gives up', async () => {
    load.mockRejectedValue(new Error('never'));
    await expect(f(load, 2)).rejects.toThrow('never');
    expect(load.mock.calls).toEqual([[0], [1], [2]]);
    assert.equal(load.mock.calls.length, 3);
    assert.isTrue(load.mock.calls.length > 2);
  });
});
