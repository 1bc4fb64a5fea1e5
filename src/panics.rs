//! Panics of libraries turned into errors, so that no file that they read can end the program.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Result of `action`, or the message of its panic. Nothing is printed, and values that it owned are gone.
pub fn contain<T>(action: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !CONTAINED.get() {
                before(info);
            }
        }));
    });
    let outer = CONTAINED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(action));
    CONTAINED.set(outer);
    outcome.map_err(|said| {
        let text = said.downcast_ref::<String>().map(String::as_str).or(said.downcast_ref::<&str>().copied());
        text.unwrap_or("no reason given").to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_its_message() {
        assert_eq!(contain(|| 3), Ok(3));
        let number = std::hint::black_box(7);
        assert_eq!(contain(|| assert!(number < 7, "too many: {number}")), Err("too many: 7".to_owned()));
        assert!(!CONTAINED.get());
    }
}
