// expect: passed
function f(n) {
    for (let i = 1; i <= n; i++) console.log(i % 3 === 0 ? 'Fizz' : i);
}
// --- tests ---
const lines = [];
const original = console.log;
console.log = (...args) => lines.push(args.join(' '));
f(4);
console.log = original;
assert.deepStrictEqual(lines, ['1', '2', 'Fizz', '4']);
