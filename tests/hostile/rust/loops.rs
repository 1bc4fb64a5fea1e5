// expect: timeout
// An endless loop.
fn f(x: i64) -> i64 {
    loop {
        std::hint::spin_loop();
    }
}
