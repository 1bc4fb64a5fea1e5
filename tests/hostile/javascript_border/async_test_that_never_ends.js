// expect: failed
function f(x) {
    return new Promise((resolve) => setTimeout(resolve, 1e8, 6));
}
// --- tests ---
return Promise.race([f(3), new Promise((resolve) => setTimeout(resolve, 50, 0))]).then((value) => assert.equal(value, 6));
