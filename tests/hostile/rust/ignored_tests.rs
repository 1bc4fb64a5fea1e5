// expect: failed
// Tests of its own that pass, beside a wrong answer.
#[cfg(test)]
mod tests {
    #[test]
    fn doubles() {}
}
fn f(x: i64) -> i64 {
    0
}
