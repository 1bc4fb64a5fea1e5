//! Our engine as a server for editors and other programs: `OpenAI`'s protocol, and candidates with verdicts.
//!
//! One thread does all that is HTTP; the engine has its own. What a client asks for is limited before it is
//! read, and what it does not read any more ends.

mod access;
mod answer;
mod ask;
mod candidates;
mod choice;
mod connection;
mod inbox;
mod metrics;
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

/// Requests that are written or wait for it; more are told to come again.
const MOST_REQUESTS: usize = 128;
/// Connections at a time; others wait to be taken.
const MOST_CONNECTIONS: usize = 512;
/// Longest that connections are waited for at the end.
const FAREWELL: Duration = Duration::from_secs(3);

/// What is served, and to whom.
pub struct Setup {
    /// What writes.
    pub source: Box<dyn Source>,
    /// How candidates are written and tested where a request does not say.
    pub settings: Settings,
    /// Who may ask.
    pub access: Access,
    /// What runs tests; `None`: nothing does.
    pub trials: Option<Trials>,
}

/// What runs tests.
pub struct Trials {
    /// What says which tests can be run.
    pub judge: Arc<dyn Judge>,
    /// What runs them, those of all requests.
    pub pool: TrialPool,
}

/// What all connections share.
struct Serving {
    source: Box<dyn Source>,
    info: SourceInfo,
    window: Window,
    settings: Settings,
    access: Access,
    trials: Option<Trials>,
    limits: Limits,
    places: Arc<Semaphore>,
    metrics: Metrics,
    /// Answers that have been given a number.
    answers: AtomicUsize,
    /// Seconds since 1970 at the start.
    since: u64,
    /// True once the server is to end.
    stop: watch::Receiver<bool>,
}

impl Serving {
    /// What tells an answer from all others.
    fn next_id(&self) -> String {
        format!("{:x}-{:x}", self.since, self.next_number())
    }

    /// The number of an answer.
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
            // Whoever asks a second time does not want to wait.
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

/// Takes connections until `stop` says true.
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
                // No more files may be open: some will be closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
        }
    }
    drop(listener);
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(FAREWELL, ended).await;
    Ok(())
}
