// expect: error timeout killed
// Macros that expand without end.
macro_rules! more {
    ($($t:tt)*) => { more!($($t)* $($t)* x) };
}
more!(x x);
fn f(x: i64) -> i64 {
    0
}
