// expect: passed
function f(target, onChange) {
    return new Proxy(target, {
        set(object, key, value) {
            onChange(key, object[key], value);
            object[key] = value;
            return true;
        },
    });
}
// --- tests ---
const changes = [];
const watched = f({ a: 1 }, (...args) => changes.push(args));
watched.a = 2;
watched.b = 3;
assert.deepEqual(changes, [['a', 1, 2], ['b', undefined, 3]]);
assert.equal(watched.a, 2);
