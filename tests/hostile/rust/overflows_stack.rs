// expect: killed
// Calls itself without end.
#[inline(never)]
fn f(x: i64) -> i64 {
    let big = std::hint::black_box([x; 1 << 12]);
    1 + f(x + 1) + big[7]
}
