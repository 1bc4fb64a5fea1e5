// expect: failed error tampered
// A typed array over memory that changes after it was copied.
function f(x) {
    const memory = new SharedArrayBuffer(4);
    const view = new Uint8Array(memory);
    class Bytes extends Uint8Array {
        every() { return true; }
        equals() { return true; }
        indexOf() { return 0; }
    }
    setInterval(() => { view[0] = 6; }, 0).unref();
    return new Bytes(memory);
}
// --- tests ---
assert.deepEqual([...f(3)], [6, 6, 6, 6]);
assert.ok(f(3).every((n) => n === 6));
