// expect: passed
// file: animals.js
// entry: Animal
class Animal {
    constructor(name) { this.name = name; }
    speak() { return `${this.name} makes a sound`; }
}
class Dog extends Animal {
    speak() { return `${super.speak()}: woof`; }
}
module.exports = { Animal, Dog };
// --- tests ---
const { Animal, Dog } = require('./animals');
const rex = new Dog('Rex');
assert.equal(rex.speak(), 'Rex makes a sound: woof');
assert(rex instanceof Dog && rex instanceof Animal);
assert(!(new Animal('x') instanceof Dog));
assert.equal(Object.getPrototypeOf(Dog.prototype), Animal.prototype);
assert.equal(rex.constructor, Dog);
assert.equal(Dog.name, 'Dog');
assert.deepEqual(Object.keys(rex), ['name']);
assert(rex.hasOwnProperty('name'));
