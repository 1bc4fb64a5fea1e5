// expect: passed
const fs = require('node:fs');
const path = require('node:path');
const os = require('node:os');
function f(file) {
    return fs.readFileSync(file, 'utf8').split(/\r?\n/).filter(Boolean).length;
}
// --- tests ---
test('counts', () => {
  assert.throws(() => f('/no/such/file'), { code: 'ENOENT' });
});
