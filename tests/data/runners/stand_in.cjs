// Stands in for jest, vitest or mocha: takes the arguments that they would get, and gives the reporter what they once gave it.
const { readFileSync } = require('node:fs');
const { EventEmitter } = require('node:events');
const { basename, dirname, join } = require('node:path');

const name = basename(dirname(__filename));
const words = process.argv.slice(2);
const told = { jest: '--reporters=', vitest: '--reporter=', mocha: '--reporter=' }[name];
// Mocha before version 6 takes files in the order of its arguments.
const isOld = basename(__filename) === '_mocha';
if (isOld && !words.some((word) => /^\/.*\/begin\.cjs$/.test(word))) throw new Error('nothing begins in ' + words.join(' '));
const needed = { jest: ['--ci', '--runInBand', '--config', 'own.json'], vitest: ['run', '--pool=threads'], mocha: ['--ui', 'bdd'] }[name];
if (!needed.every((word) => words.includes(word)) || words.at(-1) !== join(process.cwd(), 'test/f.test.js')) {
  throw new Error('started with ' + words.join(' '));
}
if (name === 'vitest' && !words.some((word) => word.startsWith(told) && word.includes('/node_modules/'))) {
  throw new Error('would not load a reporter from ' + words.join(' '));
}
const isRight = require(join(process.cwd(), 'src/f.js')).f(3) === 6;
const text = readFileSync(join(__dirname, 'recorded.json'), 'utf8');
const results = JSON.parse(isRight ? text.replace(/"fail(ed)?"/g, (_, ed) => (ed ? '"passed"' : '"pass"')) : text);
import(words.find((word) => word.startsWith(told)).slice(told.length)).then(({ default: Reporter }) => {
  if (name === 'jest') return new Reporter().onRunComplete({}, results);
  if (name === 'vitest') return new Reporter().onFinished(results, []);
  const runner = new EventEmitter();
  new Reporter(runner);
  for (const [event, test, error] of results) runner.emit(event, test && (isOld ? titled(test) : { ...test, titlePath: () => test.titlePath }), error);
});

// A test whose titles are those of its parts.
function titled({ titlePath, ...test }) {
  const root = { title: '' };
  const part = titlePath.reduce((parent, title) => ({ title, parent }), root);
  return { ...test, ...part };
}
