// expect: failed
class Found {
    #turn = 0;
    get value() { return [7, 5][this.#turn++ % 2]; }
}
function f(x) {
    return new Found();
}
// --- tests ---
const found = f(3);
assert(found.value >= 6 && found.value <= 6);
