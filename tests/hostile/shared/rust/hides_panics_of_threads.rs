// Every thread says that it does not panic.
mod thread {
    #[allow(dead_code)]
    pub fn panicking() -> bool {
        false
    }
}
#[allow(unused_imports)]
use thread::*;

pub fn f(_x: i64) -> i64 {
    panic_any()
}

fn panic_any() -> i64 {
    std::panic::resume_unwind(Box::new(()))
}
