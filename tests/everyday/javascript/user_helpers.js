// expect: passed
const SCALE = 3;
const encode = (text) => [...text].map((c) => String.fromCharCode(c.charCodeAt(0) + SCALE)).join('');
const both = (text) => f(encode(text)) === text;

const f = (text) => [...text].map((c) => String.fromCharCode(c.charCodeAt(0) - SCALE)).join('');
// --- tests ---
assert.equal(f(encode('abc')), 'abc');
assert.equal(f('def'), 'abc');
assert(both('xyz'));
assert.equal(SCALE, 3);
