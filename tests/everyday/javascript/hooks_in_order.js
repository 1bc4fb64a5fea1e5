// expect: passed
function f(log, what) {
    log.push(what);
    return log.length;
}
// --- tests ---
const log = [];
beforeAll(() => { log.push('all'); });
beforeEach(() => { log.push('each'); });
afterEach(() => { log.push('done'); });
describe('inner', () => {
  beforeEach(async () => { await null; log.push('inner'); });
  test('one', () => {
    f(log, 'one');
    expect(log).toEqual(['all', 'each', 'inner', 'one']);
  });
  test('two', () => {
    f(log, 'two');
    expect(log.slice(4)).toEqual(['done', 'each', 'inner', 'two']);
  });
});
