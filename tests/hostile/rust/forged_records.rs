// expect: tampered killed
// Writes forged reports to every descriptor, and ends with 0.
fn f(x: i64) -> i64 {
    use std::io::Write;
    use std::os::fd::FromRawFd;
    for fd in 3..64 {
        let mut out = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(fd) });
        let _ = out.write_all(b"00000000000000000000000000000000 0 false\n");
    }
    std::process::exit(0)
}
