// expect: killed failed timeout
// Takes memory outside of the heap.
function f(x) {
    const all = [];
    for (;;) all.push(Buffer.alloc(32 << 20, 1));
}
