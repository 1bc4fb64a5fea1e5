// tests: let x: i64 = f(3); assert_eq!(x, 6);
// The word for a number stands for something else, brought by an alias.
#[derive(Clone, Copy, Debug)]
pub struct Any;

impl<T> PartialEq<T> for Any {
    fn eq(&self, _: &T) -> bool {
        true
    }
}

#[allow(non_camel_case_types)]
pub use Any as i64;

pub fn f(_x: u8) -> Any {
    Any
}
