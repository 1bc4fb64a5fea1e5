// expect: failed
// A function that is compared as text.
function f(x) {
    const answer = () => 6;
    answer.toString = () => '6';
    answer.valueOf = () => 6;
    return answer;
}
// --- tests ---
assert.equal(f(3), 6);
