//! Work that takes time, on a thread of its own, off the loop.

use std::panic::{self, AssertUnwindSafe};
use std::thread;

use tokio::sync::mpsc::UnboundedSender;

use super::world::Incoming;
use crate::job::fault;

/// Does `work` on a thread called `name`. Where there is no thread, or the work panics, `failed` makes the
/// message of the reason.
pub fn on_thread<M: Into<Incoming>>(
    sender: &UnboundedSender<Incoming>,
    name: &str,
    failed: impl Fn(String) -> M + Clone + Send + 'static,
    work: impl FnOnce(&UnboundedSender<Incoming>) + Send + 'static,
) {
    let (to, failed_within) = (sender.clone(), failed.clone());
    let body = move || {
        if let Err(why) = panic::catch_unwind(AssertUnwindSafe(|| work(&to))) {
            tell(&to, failed_within(fault(&*why)));
        }
    };
    if let Err(why) = thread::Builder::new().name(name.to_owned()).spawn(body) {
        tell(sender, failed(format!("no thread could be started: {why}")));
    }
}

/// Sends a message. The loop may have ended.
pub fn tell(sender: &UnboundedSender<Incoming>, message: impl Into<Incoming>) {
    let _ = sender.send(message.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::app::Msg;

    #[test]
    fn a_panic_is_told_with_its_reason() {
        let (sender, mut received) = tokio::sync::mpsc::unbounded_channel();
        // No hook of panics prints this one.
        let panics = |_: &_| panic::resume_unwind(Box::new("out of words"));
        on_thread(&sender, "test", |why| Msg::Copied(Err(why)), panics);
        match received.blocking_recv() {
            Some(Incoming::App(Msg::Copied(Err(why)))) => assert!(why.contains("(out of words)"), "{why}"),
            _ => panic!("no message about it"),
        }
    }
}
