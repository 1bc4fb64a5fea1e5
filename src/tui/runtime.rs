//! The loop: waits for keys, events, signals or the next frame; takes in everything that is ready, then draws once.

use std::future::{Future, poll_fn};
use std::io;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tokio::sync::mpsc::UnboundedReceiver;

use super::app::{Msg, State, update};
use super::event::Input;
use super::frames::Frames;
use super::highlight::Highlights;
use super::terminal::{InputStream, Inputs, Screen};
use super::theme::Theme;
use super::view::{self, Look};
use super::world::{Asked, Incoming, Opened, World};

/// Most messages between two frames, so that a flood cannot keep the keys waiting.
const DRAIN: usize = 512;

/// Time in ms since the start, without the time the process was stopped.
struct Clock {
    start: Instant,
    stopped: Duration,
}

impl Clock {
    fn now(&self) -> u64 {
        self.start.elapsed().saturating_sub(self.stopped).as_millis() as u64
    }

    fn instant(&self, at: u64) -> tokio::time::Instant {
        tokio::time::Instant::from_std(self.start + self.stopped + Duration::from_millis(at))
    }
}

/// How the loop ended.
#[derive(Debug)]
pub enum End {
    /// The user left, with this program accepted.
    Quit(Option<String>),
    /// A signal.
    Signal(&'static str),
    /// The terminal went away.
    Closed,
}

/// Everything the loop works with.
pub struct Runtime<'a> {
    /// What is shown.
    pub state: State,
    /// Colours.
    pub theme: Theme,
    /// Colours of code.
    pub highlights: Highlights,
    /// Carries out effects.
    pub world: World,
    /// Messages from other threads.
    pub incoming: UnboundedReceiver<Incoming>,
    /// What is drawn on.
    pub screen: &'a mut dyn Screen,
    /// Where keys come from.
    pub inputs: &'a mut dyn Inputs,
}

struct Loop<'a> {
    run: Runtime<'a>,
    clock: Clock,
    frames: Frames,
    stream: Option<InputStream>,
    end: Option<End>,
}

impl Runtime<'_> {
    /// Runs until the user leaves or `signals` resolves. `open` is started after the first frame.
    pub async fn run(
        self,
        open: Box<dyn FnOnce() -> Result<Opened, String> + Send>,
        signals: impl Future<Output = &'static str>,
    ) -> io::Result<End> {
        let clock = Clock { start: Instant::now(), stopped: Duration::ZERO };
        let mut this = Loop { run: self, clock, frames: Frames::default(), stream: None, end: None };
        let result = this.until_end(open, signals).await;
        this.run.world.close();
        result
    }
}

impl Loop<'_> {
    async fn until_end(
        &mut self,
        open: Box<dyn FnOnce() -> Result<Opened, String> + Send>,
        signals: impl Future<Output = &'static str>,
    ) -> io::Result<End> {
        let mut signals = std::pin::pin!(signals);
        let (width, height) = self.run.screen.size()?;
        self.message(Msg::Resize(width, height))?;
        self.draw()?;
        self.run.world.open(open);
        loop {
            if let Some(end) = self.end.take() {
                return Ok(end);
            }
            let now = self.clock.now();
            if self.frames.due().is_some_and(|at| at <= now) {
                self.draw()?;
            }
            let wake = [self.frames.due(), self.run.state.wake_at()].into_iter().flatten().min();
            let deadline = self.clock.instant(wake.unwrap_or(0));
            let stream = self.stream.get_or_insert_with(|| self.run.inputs.open());
            tokio::select! {
                input = stream.next() => self.input(input)?,
                Some(incoming) = self.run.incoming.recv() => self.incoming(incoming)?,
                name = &mut signals => return Ok(End::Signal(name)),
                () = tokio::time::sleep_until(deadline), if wake.is_some() => self.tick()?,
            }
            self.drain().await?;
        }
    }

    /// Takes in what is ready without waiting.
    async fn drain(&mut self) -> io::Result<()> {
        for _ in 0..DRAIN {
            if self.end.is_some() {
                return Ok(());
            }
            // Keys first: they are few, and somebody waits for each.
            if let Some(input) = ready(self.stream.as_mut()).await {
                self.input(input)?;
            } else if let Ok(incoming) = self.run.incoming.try_recv() {
                self.incoming(incoming)?;
            } else {
                return Ok(());
            }
        }
        Ok(())
    }

    fn tick(&mut self) -> io::Result<()> {
        if self.run.state.wake_at().is_some_and(|at| at <= self.clock.now()) { self.message(Msg::Tick) } else { Ok(()) }
    }

    fn input(&mut self, event: Option<io::Result<crossterm::event::Event>>) -> io::Result<()> {
        let Some(event) = event else {
            self.end = Some(End::Closed);
            return Ok(());
        };
        let Some(input) = Input::from_terminal(event?) else { return Ok(()) };
        self.frames.request(true);
        self.message(match input {
            Input::Key(key) => Msg::Key(key),
            Input::Paste(text) => Msg::Paste(text),
            Input::Resize(width, height) => Msg::Resize(width, height),
        })
    }

    fn incoming(&mut self, incoming: Incoming) -> io::Result<()> {
        match incoming {
            Incoming::App(msg) => self.message(msg),
            Incoming::Opened(result) => {
                let msg = self.run.world.opened(result);
                self.message(msg)
            }
            Incoming::Coloured(coloured) => {
                self.run.highlights.take(coloured);
                self.frames.request(false);
                Ok(())
            }
        }
    }

    fn message(&mut self, msg: Msg) -> io::Result<()> {
        self.frames.request(false);
        for effect in update(&mut self.run.state, self.clock.now(), msg) {
            match self.run.world.act(effect) {
                Asked::Nothing => {}
                Asked::Send(sequence) => self.run.screen.send(&sequence)?,
                Asked::Redraw => self.run.screen.clear()?,
                Asked::Suspend => self.suspend()?,
                Asked::Quit(accepted) => self.end = Some(End::Quit(accepted)),
            }
        }
        Ok(())
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.stream = None;
        let before = Instant::now();
        self.run.screen.suspend()?;
        self.clock.stopped += before.elapsed();
        let (width, height) = self.run.screen.size()?;
        self.message(Msg::Resize(width, height))
    }

    fn draw(&mut self) -> io::Result<()> {
        let Runtime { state, theme, highlights, screen, .. } = &mut self.run;
        view::sync(state, highlights);
        let look = Look { state, theme, highlights };
        screen.draw(&mut |frame| view::draw(frame, &look))?;
        self.frames.drawn(self.clock.now());
        Ok(())
    }
}

/// The next item of the stream if it is there already. Polled as this task: the keyboard's stream keeps the first waker it
/// is given until it has woken it, so a look with any other waker would make the loop deaf.
async fn ready(stream: Option<&mut InputStream>) -> Option<Option<io::Result<crossterm::event::Event>>> {
    let stream = stream?;
    poll_fn(|context| match stream.poll_next_unpin(context) {
        Poll::Ready(item) => Poll::Ready(Some(item)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Resolves when the process is asked to end.
#[cfg(unix)]
pub async fn signals() -> &'static str {
    use tokio::signal::unix::{SignalKind, signal};
    let wait = |kind: SignalKind, name: &'static str| async move {
        match signal(kind) {
            Ok(mut signal) => {
                signal.recv().await;
                name
            }
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        name = wait(SignalKind::terminate(), "SIGTERM") => name,
        name = wait(SignalKind::hangup(), "SIGHUP") => name,
        name = wait(SignalKind::interrupt(), "SIGINT") => name,
    }
}

/// Resolves when the process is asked to end.
#[cfg(not(unix))]
pub async fn signals() -> &'static str {
    match tokio::signal::ctrl_c().await {
        Ok(()) => "an interrupt",
        Err(_) => std::future::pending().await,
    }
}
