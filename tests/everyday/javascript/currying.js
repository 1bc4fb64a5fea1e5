// expect: passed
function f(fn) {
    return function curried(...args) {
        return args.length >= fn.length ? fn.apply(this, args) : (...more) => curried(...args, ...more);
    };
}
// --- tests ---
const add = f((a, b, c) => a + b + c);
expect(add(1)(2)(3)).toBe(6);
expect(add(1, 2)(3)).toBe(6);
expect(add(1)(2, 3)).toBe(6);
expect(typeof add(1)).toBe('function');
