// expect: failed
// Learns the names that it is compared by.
function f(x) {
    const own = {};
    return new Proxy(own, {
        has: (_, key) => { own[key] = 6; return true; },
        getOwnPropertyDescriptor: (_, key) => { own[key] = 6; return { value: 6, enumerable: true, configurable: true, writable: true }; },
        ownKeys: () => Reflect.ownKeys(own),
    });
}
// --- tests ---
const found = f(3);
assert.deepStrictEqual(found, { double: 6 });
