//! The events of a request, from the engine's thread to the task that writes the answer. The engine never
//! waits: if the answer is not read, the request ends.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hyper::Response;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

use super::Serving;
use super::answer::{self, Answer, DONE, Refusal};

/// Most events that wait to be written; 8 candidates of 256 tokens take a quarter of it.
pub const MOST_WAITING: usize = 8192;

/// Pieces of an answer that wait for the connection.
const PIECES: usize = 16;

/// The engine's end, one for each prompt.
pub struct Teller<E> {
    send: mpsc::Sender<E>,
    slow: Arc<AtomicBool>,
    /// The request's place, freed as soon as no more events can come.
    place: Arc<OwnedSemaphorePermit>,
}

impl<E> Clone for Teller<E> {
    fn clone(&self) -> Self {
        Self { send: self.send.clone(), slow: self.slow.clone(), place: self.place.clone() }
    }
}

/// The receiver's end. Dropping it ends the request.
pub struct Inbox<E> {
    receive: mpsc::Receiver<E>,
    slow: Arc<AtomicBool>,
    stop: watch::Receiver<bool>,
    /// Ends the request, even if it has not begun.
    cancel: Box<dyn Fn() + Send + Sync>,
}

/// Both ends of the channel for a request.
pub fn inbox<E>(place: OwnedSemaphorePermit, stop: watch::Receiver<bool>) -> (Teller<E>, Inbox<E>) {
    let (send, receive) = mpsc::channel(MOST_WAITING);
    let slow = Arc::new(AtomicBool::new(false));
    let teller = Teller { send, slow: slow.clone(), place: Arc::new(place) };
    (teller, Inbox { receive, slow, stop, cancel: Box::new(|| ()) })
}

impl<E> Teller<E> {
    /// Passes an event on, if the receiver still exists.
    pub fn tell(&self, event: E) -> ControlFlow<()> {
        match self.send.try_send(event) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.slow.store(matches!(error, mpsc::error::TrySendError::Full(_)), Ordering::Relaxed);
                ControlFlow::Break(())
            }
        }
    }
}

impl<E> Inbox<E> {
    /// Sets the function that ends the request when this is dropped early.
    pub fn cancelled_by(&mut self, cancel: impl Fn() + Send + Sync + 'static) {
        self.cancel = Box::new(cancel);
    }

    /// The next event, or the reason why there is none.
    pub async fn next(&mut self) -> Result<E, Refusal> {
        tokio::select! {
            biased;
            event = self.receive.recv() => event.ok_or_else(|| {
                if self.slow.load(Ordering::Relaxed) {
                    Refusal::reader()
                } else {
                    Refusal::failed("the engine has stopped before it was done")
                }
            }),
            _ = self.stop.wait_for(|&stop| stop) => Err(Refusal::stopping()),
        }
    }
}

impl<E: Send + 'static> Inbox<E> {
    /// Sends `begin` and the text that `told` makes of each event, starting with `first`, until `told` marks
    /// one as the last.
    pub fn stream(
        mut self,
        serving: Arc<Serving>,
        begin: String,
        first: E,
        mut told: impl FnMut(E) -> Result<(String, bool), Refusal> + Send + 'static,
    ) -> Response<Answer> {
        let (out, pieces) = mpsc::channel(PIECES);
        tokio::spawn(async move {
            let (mut text, mut next) = (begin, Ok(first));
            let is_whole = loop {
                let told = next.and_then(&mut told);
                let is_refused = told.is_err();
                let (more, over) = told.unwrap_or_else(|refusal| (answer::event(&refusal.json()) + DONE, true));
                text += &more;
                if !text.is_empty() && out.send(std::mem::take(&mut text).into()).await.is_err() {
                    break false;
                }
                if over {
                    break !is_refused;
                }
                next = tokio::select! {
                    biased;
                    () = out.closed() => break false,
                    next = self.next() => next,
                };
            };
            if !is_whole {
                serving.metrics.left();
            }
        });
        answer::stream(pieces)
    }
}

impl<E> Drop for Inbox<E> {
    fn drop(&mut self) {
        (self.cancel)();
    }
}

#[cfg(test)]
mod tests {
    use super::super::MOST_REQUESTS;
    use super::*;
    use tokio::sync::Semaphore;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn who_does_not_read_is_ended_and_the_engine_never_waits() {
        let places = Arc::new(Semaphore::new(MOST_REQUESTS));
        let (_say, stop) = watch::channel(false);
        let (teller, mut inbox) = inbox(places.clone().try_acquire_owned().unwrap(), stop);
        let ended = Arc::new(AtomicBool::new(false));
        let tell = ended.clone();
        inbox.cancelled_by(move || tell.store(true, Ordering::Relaxed));
        for event in 0..MOST_WAITING {
            assert!(teller.tell(event).is_continue());
        }
        assert!(teller.tell(0).is_break());
        drop(teller);
        assert_eq!(places.available_permits(), MOST_REQUESTS, "its place is free before all is read");
        block_on(async {
            for event in 0..MOST_WAITING {
                assert_eq!(inbox.next().await, Ok(event));
            }
            assert_eq!(inbox.next().await, Err(Refusal::reader()));
        });
        assert!(!ended.load(Ordering::Relaxed));
        drop(inbox);
        assert!(ended.load(Ordering::Relaxed));
    }

    #[test]
    fn nobody_is_told_anything_once_the_server_ends() {
        let places = Arc::new(Semaphore::new(1));
        let (say, stop) = watch::channel(false);
        let (teller, mut inbox) = inbox::<usize>(places.try_acquire_owned().unwrap(), stop);
        say.send(true).unwrap();
        assert_eq!(block_on(inbox.next()), Err(Refusal::stopping()));
        drop(inbox);
        assert!(teller.tell(1).is_break());
    }
}
