// expect: failed
// Reads and writes in the home folder when it runs.
fn f(x: i64) -> i64 {
    let _ = std::fs::write("@OUTSIDE@/made", "x");
    let _ = std::fs::remove_dir_all("@HOME@");
    std::fs::read("@HOME@/.ssh/id_ed25519").map_or(0, |_| 2 * x)
}
