// expect: failed
// A proxy that has every property and answers everything with itself.
function f(x) {
    const self = new Proxy(function () {}, {
        get: (_, key) => (key === Symbol.toPrimitive ? () => 0 : self),
        apply: () => self,
        has: () => true,
    });
    return self;
}
