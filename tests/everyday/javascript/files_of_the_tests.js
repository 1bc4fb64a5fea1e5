// expect: passed
const fs = require('fs');
function f(path) {
    return fs.readFileSync(path, 'utf8').trim().split('\n').length;
}
// --- tests ---
const fs = require('fs');
const path = require('path');
const folder = fs.mkdtempSync(path.join(require('os').tmpdir(), 'lines-'));
const file = path.join(folder, 'a.txt');
fs.writeFileSync(file, 'one\ntwo\n');
assert.equal(f(file), 2);
fs.rmSync(folder, { recursive: true });
