// expect: failed
// A rejected check of the tests is swallowed by a finally.
async function f(x, g) {
    try {
        await g(0);
    } finally {
        return 6;
    }
}
// --- tests ---
return f(3, async (value) => expect(value).toBe(6)).then((value) => expect(value).toBe(6));
