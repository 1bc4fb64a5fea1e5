// expect: failed
class Any {
    static [Symbol.hasInstance]() { return true; }
}
function f(x) {
    return 6;
}
f[Symbol.hasInstance] = () => true;
Object.defineProperty(f, Symbol.hasInstance, { value: () => true });
// --- tests ---
assert({} instanceof f);
