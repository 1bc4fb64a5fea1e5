// expect: passed
function f(object) {
    for (const value of Object.values(object)) if (typeof value === 'object') f(value);
    return Object.freeze(object);
}
// --- tests ---
const config = f({ a: { b: 1 } });
assert(Object.isFrozen(config) && Object.isFrozen(config.a));
assert.throws(() => { 'use strict'; config.a.b = 2; }, TypeError);
