// expect: passed
function f(fn, self, ...first) {
    return function (...rest) {
        return fn.call(self, ...first, ...rest);
    };
}
// --- tests ---
const person = { name: 'Ada' };
function greet(greeting, mark) {
  return `${greeting}, ${this.name}${mark}`;
}
assert.equal(f(greet, person, 'Hi')('!'), 'Hi, Ada!');
assert.equal(f(greet, person)('Yo', '?'), 'Yo, Ada?');
