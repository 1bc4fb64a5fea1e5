// expect: killed failed timeout
// Takes memory in the heap.
function f(x) {
    const all = [];
    for (;;) all.push(new Array(1 << 16).fill(x));
}
