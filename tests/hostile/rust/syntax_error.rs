// expect: error
// says: doubling.rs:4
// Not a program.
fn f(x: i64 -> {
