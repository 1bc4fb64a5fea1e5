// expect: killed
// says: before doubles was done
// Ends the process with 0 in the tested function.
fn f(x: i64) -> i64 {
    std::process::exit(0)
}
