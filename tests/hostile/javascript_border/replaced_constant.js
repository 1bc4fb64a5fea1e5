// expect: failed
const LIMIT = 6;
const same = (a, b) => a === b;

// --- body ---
var same2 = () => true;
function f(x) {
    return 0;
}
// --- tests ---
assert(same(f(3), LIMIT));
