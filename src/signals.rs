//! Signals that ask the process to end.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals that a user or a system sends to end a program.
pub const END: [(SignalKind, &str); 2] = [(SignalKind::interrupt(), "SIGINT"), (SignalKind::terminate(), "SIGTERM")];

/// Signals that are listened to; from then on they do nothing else.
pub struct Signals(Vec<(Signal, &'static str)>);

impl Signals {
    /// Listens to these. Needs a runtime of tokio.
    pub fn listen(kinds: impl IntoIterator<Item = (SignalKind, &'static str)>) -> io::Result<Self> {
        kinds.into_iter().map(|(kind, name)| Ok((signal(kind)?, name))).collect::<io::Result<_>>().map(Self)
    }

    /// The name of the next signal.
    pub async fn next(&mut self) -> &'static str {
        poll_fn(|context| {
            let came = |(signal, name): &mut (Signal, _)| signal.poll_recv(context).is_ready().then_some(*name);
            self.0.iter_mut().find_map(came).map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}
