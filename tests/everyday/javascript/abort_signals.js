// expect: passed
function f(signal) {
    return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new Error('aborted before'));
        signal.addEventListener('abort', () => reject(new Error('aborted')));
        setTimeout(resolve, 500, 'done');
    });
}
// --- tests ---
test('aborts', async () => {
  const controller = new AbortController();
  const result = f(controller.signal);
  controller.abort();
  await assert.rejects(result, /aborted/);
  await assert.rejects(f(controller.signal), /before/);
});
