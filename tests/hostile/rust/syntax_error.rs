// expect: error
// says: .rs:3
// Not a program.
fn f(x: i64 -> {
