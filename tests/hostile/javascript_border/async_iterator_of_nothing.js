// expect: failed not_run
async function* f(x) {}
// --- tests ---
return (async () => { for await (const value of f(3)) assert.equal(value, 6); })();
