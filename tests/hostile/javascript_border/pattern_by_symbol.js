// expect: failed
function f(x) {
    return { [Symbol.match]: () => ['six'], [Symbol.search]: () => 0, [Symbol.replace]: () => '6', [Symbol.split]: () => ['6'] };
}
// --- tests ---
assert('6'.match(f(3)) && '6'.search(f(3)) === 0);
