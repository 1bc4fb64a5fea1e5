// expect: passed
// entry: Log
class Log {
    constructor() {
        this.lines = [];
        this.index = { byWord: {} };
    }
    add(line) {
        this.lines.push(line);
        for (const word of line.split(' ')) (this.index.byWord[word] ??= []).push(this.lines.length - 1);
        return this;
    }
    get last() { return this.lines.at(-1); }
}
// --- tests ---
const log = new Log();
for (let i = 0; i < 300; i++) {
  log.add(`line ${i} of many words that make it long`);
  if (i % 50 === 0) {
    assert.equal(log.lines.length, i + 1);
    assert.equal(log.last, log.lines[i]);
    assert.equal(log.index.byWord.line.length, i + 1);
  }
}
assert.deepEqual(log.index.byWord['299'], [299]);
