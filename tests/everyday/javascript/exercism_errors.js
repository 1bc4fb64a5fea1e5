// expect: passed
// entry: toRna
// Errors of the code's own class, by class, text and pattern.
export class InputError extends Error {
  constructor(message) {
    super(message);
    this.name = 'InputError';
  }
}
export const toRna = (dna) => {
  if (/[^ACGT]/.test(dna)) throw new InputError('Invalid input DNA.');
  return [...dna].map((c) => ({ G: 'C', C: 'G', T: 'A', A: 'U' })[c]).join('');
};
// --- tests ---
import { toRna, InputError } from './rna';
test('complement', () => expect(toRna('ACGTGGTCTTAA')).toEqual('UGCACCAGAAUU'));
test('invalid', () => {
  expect(() => toRna('U')).toThrow(InputError);
  expect(() => toRna('U')).toThrow(Error);
  expect(() => toRna('XXX')).toThrow('Invalid input DNA.');
  expect(() => toRna('XXX')).toThrow(/^Invalid/);
  expect(() => toRna('XXX')).toThrow(new Error('Invalid input DNA.'));
  expect(() => toRna('A')).not.toThrow();
  expect(() => toRna('U')).not.toThrow(TypeError);
});
