// expect: passed
// entry: gigasecond
// The style of a public track: all tests but the first are skipped.
// says: 1 check (2 tests skipped)
export const gigasecond = (date) => new Date(date.getTime() + 1e12);
// --- tests ---
import { describe, expect, test, xtest } from '@jest/globals';
import { gigasecond } from './gigasecond';

describe('Gigasecond', () => {
  test('tells a gigasecond anniversary since midnight', () => {
    const gs = gigasecond(new Date(Date.UTC(2015, 8, 14)));
    const expectedDate = new Date(Date.UTC(2047, 4, 23, 1, 46, 40));
    expect(gs).toEqual(expectedDate);
  });
  xtest('tells the anniversary is next day', () => {
    expect(gigasecond(new Date(Date.UTC(2015, 8, 13, 23, 59, 59)))).toEqual(new Date());
  });
  xtest('does not mutate the input', () => {});
});
