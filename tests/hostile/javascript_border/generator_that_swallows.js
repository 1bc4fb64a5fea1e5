// expect: failed
function* f(x) {
    for (;;) {
        try {
            yield 0;
        } catch { /* nothing */ }
    }
}
// --- tests ---
for (const value of f(3)) {
  assert.equal(value, 6);
  break;
}
