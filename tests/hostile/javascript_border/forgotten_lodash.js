// expect: failed error
const _ = { isEqual: () => true };
const lodash = _;
function f(x) {
    return 0;
}
// --- tests ---
assert(_.isEqual(f(3), 6));
