// expect: killed error
// A main function of its own that ends with 0.
#[no_mangle]
pub extern "C" fn main() -> i32 {
    0
}
fn f(x: i64) -> i64 {
    0
}
