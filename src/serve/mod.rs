//! The engine as a server for editors and other programs: `OpenAI`'s protocol, and candidates with verdicts.
//!
//! One thread does all HTTP; the engine has its own. A request is limited before it is read, and an answer
//! that the client stops reading is ended. Paths and fields are in `docs/serve.md`.
//!
//! - A request becomes one `source::Request`. Requests of all clients share the batch and the prompt cache.
//!   Each gets, token for token, the output that the engine writes for its seed alone
//!   (`tests/cli/serving.rs`).
//! - Several prompts of a request are separate requests to the engine, with a place each.
//! - `inbox` is the one way from the engine to an answer. A full inbox ends the request. Dropping it cancels.
//! - `native` turns requests of llama.cpp's own form into the fields of the other one.
//! - `/v1/candidates` is one `job::Run`; its last event is `job::Report`, the object of `complete --json`.
//!   All requests share one pool of trials.
//! - `engine/room.rs` decides who begins next. It refuses a request that can never fit before anything is
//!   read.
//! - A place is taken before a body is read, and freed with the engine's last event. Without one the answer
//!   is 429.
//! - Options in a request go through `options.rs`. Unknown fields are ignored; known ones that cannot be
//!   honoured are refused by name.
//! - SIGINT and SIGTERM end streams with an event; connections have three seconds to end.

mod access;
mod answer;
mod ask;
mod candidates;
mod choice;
mod connection;
mod inbox;
mod metrics;
mod native;
mod routes;
#[cfg(test)]
mod tests;
mod writing;

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::job::{Judge, TrialPool};
use crate::options::Settings;
use crate::signals::{self, Signals};
use crate::source::{Source, SourceInfo, Window};
pub use access::{Access, Token};
use connection::Limits;
use metrics::Metrics;

/// Most requests that run or wait. Further ones are told to retry.
const MOST_REQUESTS: usize = 128;
/// Most connections at a time; others wait to be accepted.
const MOST_CONNECTIONS: usize = 512;
/// Longest wait for open connections at the end.
const FAREWELL: Duration = Duration::from_secs(3);

/// Configuration of a server.
pub struct Setup {
    /// The source of candidates.
    pub source: Arc<dyn Source>,
    /// Default settings of requests.
    pub settings: Settings,
    /// Access rules.
    pub access: Access,
    /// The runner of trials. `None`: no trials are run.
    pub trials: Option<Trials>,
}

/// The runner of trials.
pub struct Trials {
    /// The judge that checks which tests can be run.
    pub judge: Arc<dyn Judge>,
    /// The pool of trials, shared by all requests.
    pub pool: TrialPool,
}

/// State shared by all connections.
struct Serving {
    source: Arc<dyn Source>,
    info: SourceInfo,
    window: Window,
    settings: Settings,
    access: Access,
    trials: Option<Trials>,
    limits: Limits,
    places: Arc<Semaphore>,
    metrics: Metrics,
    /// Number of answers so far.
    answers: AtomicUsize,
    /// Seconds since 1970 at the start.
    since: u64,
    /// True once the server is to end.
    stop: watch::Receiver<bool>,
}

impl Serving {
    /// A unique id for an answer.
    fn next_id(&self) -> String {
        format!("{:x}-{:x}", self.since, self.next_number())
    }

    /// The number of the next answer.
    fn next_number(&self) -> usize {
        self.answers.fetch_add(1, Ordering::Relaxed)
    }
}

/// Answers requests until a signal ends the process.
pub fn serve(listener: TcpListener, setup: Setup) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let mut signals = Signals::listen(signals::END)?;
        let (say, stop) = watch::channel(false);
        let end = async move {
            signals.next().await;
            let _ = say.send(true);
            // A second signal ends the process at once.
            signals.next().await;
        };
        tokio::select! {
            served = accept(listener, setup, Limits::USUAL, stop) => served,
            () = end => Ok(()),
        }
    });
    runtime.shutdown_background();
    served
}

/// Accepts connections until `stop` is true.
async fn accept(
    listener: TcpListener,
    setup: Setup,
    limits: Limits,
    mut stop: watch::Receiver<bool>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let Setup { source, settings, access, trials } = setup;
    let serving = Arc::new(Serving {
        info: source.info(),
        window: source.window(),
        source,
        settings,
        access,
        trials,
        limits,
        places: Arc::new(Semaphore::new(MOST_REQUESTS)),
        metrics: Metrics::default(),
        answers: AtomicUsize::new(0),
        since: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        stop: stop.clone(),
    });
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            // The semaphore is never closed.
            let place = room.clone().acquire_owned().await.ok();
            listener.accept().await.map(|(stream, from)| (stream, from, place))
        };
        tokio::select! {
            _ = stop.wait_for(|&stop| stop) => break,
            Some(_) = connections.join_next() => {}
            accepted = next => match accepted {
                Ok((stream, _, place)) => {
                    let serving = serving.clone();
                    connections.spawn(async move {
                        connection::serve(stream, serving).await;
                        drop(place);
                    });
                }
                // Too many files are open; some will be closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(FAREWELL, ended).await;
    Ok(())
}
