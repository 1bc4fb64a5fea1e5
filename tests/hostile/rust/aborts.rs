// expect: killed
// says: SIGABRT
// Aborts.
fn f(x: i64) -> i64 {
    std::process::abort()
}
