// expect: failed error
// Changes what all objects have in common.
Object.prototype.toJSON = () => 6;
Object.defineProperty(Object.prototype, 'valueOf', { value: () => 6 });
Number.prototype.toJSON = () => 6;
Array.prototype.push = () => 6;
Object.is = () => true;
function f(x) {
    return 0;
}
