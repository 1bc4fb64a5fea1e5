// expect: failed killed
// What all objects of the worker have in common tells nothing to the judge.
Object.prototype.equals = () => true;
Array.prototype.includes = () => true;
String.prototype.includes = () => true;
Array.prototype[Symbol.iterator] = function* () { yield 6; };
Map.prototype.get = () => 6;
Number.prototype.valueOf = () => 6;
function f(x) {
    return [0];
}
// --- tests ---
assert(f(3).includes(6));
