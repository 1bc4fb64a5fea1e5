// expect: killed
// says: before doubles was done
// Writes a perfect summary past the capture of output, and ends with 0.
fn f(x: i64) -> i64 {
    use std::io::Write;
    use std::os::fd::FromRawFd;
    let mut out = unsafe { std::fs::File::from_raw_fd(1) };
    out.write_all(b"ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n").unwrap();
    std::process::exit(0)
}
