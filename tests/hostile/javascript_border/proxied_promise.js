// expect: failed
function f(x) {
    return new Proxy(Promise.resolve(0), { get: (target, key) => (key === 'then' ? () => undefined : Reflect.get(target, key)) });
}
// --- tests ---
return f(3).then((value) => assert.equal(value, 6));
