// Changes prototypes that checks stand on for as long as one check takes.
const { strictEqual } = require('assert');
function f(x) {
    const own = Object.getOwnPropertyDescriptor(Object.prototype, 'valueOf');
    const { isPrototypeOf } = Object.prototype;
    Object.prototype.isPrototypeOf = () => true;
    Number.prototype.valueOf = () => 6;
    queueMicrotask(() => {
        Object.defineProperty(Object.prototype, 'valueOf', own);
        Object.prototype.isPrototypeOf = isPrototypeOf;
        delete Number.prototype.valueOf;
    });
    return new Number(0);
}
module.exports = { f };
