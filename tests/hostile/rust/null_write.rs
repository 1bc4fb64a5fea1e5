// expect: killed
// says: SIG
// Writes through a null pointer.
fn f(x: i64) -> i64 {
    unsafe { std::ptr::null_mut::<i64>().write_volatile(x) };
    0
}
