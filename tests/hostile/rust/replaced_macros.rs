// expect: failed
// says: left: 0
// Replaces the macros that tests check with.
macro_rules! assert_eq {
    ($($t:tt)*) => {};
}
#[macro_export]
macro_rules! assert {
    ($($t:tt)*) => {};
}
mod std {}
fn f(x: i64) -> i64 {
    0
}
