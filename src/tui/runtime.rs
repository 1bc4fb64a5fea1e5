//! The loop: waits for keys, events, signals or the next frame; takes in everything that is ready, then draws
//! once.

use std::future::{Future, poll_fn};
use std::io;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tokio::signal::unix::SignalKind;
use tokio::sync::mpsc::UnboundedReceiver;

use super::Outcome;
use super::app::{Msg, State, past, update};
use super::event::{Input, MouseKind};
use super::frames::Frames;
use super::highlight::Highlights;
use super::terminal::{InputStream, Inputs, Screen};
use super::theme::{Theme, Themes};
use super::view::{self, Look};
use super::world::{Incoming, LoopAction, Open, World};
use crate::signals::{self, Signals};

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
    /// The user left.
    Quit(Outcome),
    Signal(&'static str),
    /// The terminal went away.
    Closed,
}

/// Everything the loop works with.
pub struct Runtime<'a> {
    /// State that is shown.
    pub state: State,
    /// Colours.
    pub theme: Theme,
    /// All themes, for this terminal.
    pub themes: Themes,
    /// Colours of code.
    pub highlights: Highlights,
    /// Carries out effects.
    pub world: World,
    /// Messages from other threads.
    pub incoming: UnboundedReceiver<Incoming>,
    /// Screen to draw on.
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
    pub async fn run(self, open: Open, signals: impl Future<Output = &'static str>) -> io::Result<End> {
        let clock = Clock { start: Instant::now(), stopped: Duration::ZERO };
        let mut this = Loop { run: self, clock, frames: Frames::default(), stream: None, end: None };
        let result = this.until_end(open, signals).await;
        this.run.world.close(&this.run.state);
        result
    }
}

impl Loop<'_> {
    async fn until_end(&mut self, open: Open, signals: impl Future<Output = &'static str>) -> io::Result<End> {
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

    fn input(&mut self, input: Option<io::Result<Input>>) -> io::Result<()> {
        let Some(input) = input else {
            self.end = Some(End::Closed);
            return Ok(());
        };
        self.frames.request(true);
        let msg = match input? {
            Input::Key(key) => Msg::Key(key),
            Input::Paste(text) => Msg::Paste(text),
            Input::Mouse(used) => {
                let tab = || view::tab_at(&self.run.state, used.column, used.row);
                let tab = if used.kind == MouseKind::Press { tab() } else { None };
                tab.map_or(Msg::Mouse(used), Msg::Tab)
            }
            Input::Resize(width, height) => {
                // Every cell: a terminal that was small in between has cut what it showed, also where the
                // size is the one of before.
                self.run.screen.clear()?;
                Msg::Resize(width, height)
            }
            Input::Stop => return self.suspend(),
            Input::Continued => {
                self.run.screen.retake()?;
                let (width, height) = self.run.screen.size()?;
                Msg::Resize(width, height)
            }
        };
        self.message(msg)
    }

    fn incoming(&mut self, incoming: Incoming) -> io::Result<()> {
        match incoming {
            Incoming::App(msg) => self.message(msg),
            Incoming::Opened(result) => {
                let msg = self.run.world.opened(result);
                self.message(msg)
            }
            Incoming::Send(sequence, said) => {
                self.run.screen.send(&sequence)?;
                self.message(said)
            }
            Incoming::Reopened(result) => {
                let msg = self.run.world.reopened(result);
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
                LoopAction::Nothing => {}
                LoopAction::Theme(name) => self.retheme(name)?,
                LoopAction::Redraw => self.run.screen.clear()?,
                LoopAction::Mouse(on) => self.run.screen.mouse(on)?,
                LoopAction::Suspend => self.suspend()?,
                LoopAction::Lend(mut program) => self.lend(&mut *program)?,
                LoopAction::Quit(outcome) => self.end = Some(End::Quit(outcome)),
            }
        }
        self.run.world.read_ahead(past::next_job(&self.run.state));
        Ok(())
    }

    fn retheme(&mut self, name: String) -> io::Result<()> {
        match self.run.themes.find(&name) {
            Ok(theme) => {
                self.run.highlights.retheme(&theme);
                self.run.theme = theme;
                Ok(())
            }
            Err(why) => self.message(Msg::NoTheme { name, why: why.to_string() }),
        }
    }

    fn suspend(&mut self) -> io::Result<()> {
        self.stream = None;
        let before = Instant::now();
        self.run.screen.suspend()?;
        self.clock.stopped += before.elapsed();
        let (width, height) = self.run.screen.size()?;
        self.message(Msg::Resize(width, height))
    }

    /// Another program has the terminal for a while.
    fn lend(&mut self, program: &mut dyn FnMut()) -> io::Result<()> {
        self.stream = None;
        self.run.screen.lend(program)?;
        let (width, height) = self.run.screen.size()?;
        self.message(Msg::Resize(width, height))
    }

    fn draw(&mut self) -> io::Result<()> {
        let Runtime { state, theme, highlights, screen, .. } = &mut self.run;
        view::sync(state, highlights);
        let look = Look { state, theme, highlights };
        screen.draw(&mut |frame| {
            view::draw(frame, &look);
            look.theme.paint(frame.buffer_mut());
        })?;
        self.frames.drawn(self.clock.now());
        Ok(())
    }
}

/// The next item of the stream if it is there already. Polled as this task, whose waker the stream keeps.
async fn ready(stream: Option<&mut InputStream>) -> Option<Option<io::Result<Input>>> {
    let stream = stream?;
    poll_fn(|context| match stream.poll_next_unpin(context) {
        Poll::Ready(item) => Poll::Ready(Some(item)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Resolves when the process is asked to end, or its terminal is gone.
pub async fn signals() -> &'static str {
    match Signals::listen(signals::END.into_iter().chain([(SignalKind::hangup(), "SIGHUP")])) {
        Ok(mut signals) => signals.next().await,
        Err(_) => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Condvar, Mutex};
    use std::thread;

    use ratatui::backend::TestBackend;
    use ratatui::{Frame, Terminal};
    use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

    use super::*;
    use crate::engine::{Event, GenerateOptions, Summary};
    use crate::job::{Job, Judge, TestsChoice, TrialPool};
    use crate::source::{EventSink, Request, Source, SourceInfo, Ticket};
    use crate::trial::{Limits, Protection, Status, Trial, TrialError, Verdict};
    use crate::tui::app::fixture::PROMPT;
    use crate::tui::event::{Code, Key};
    use crate::tui::theme::Depth;
    use crate::tui::{Extras, Setup, TuiError, run_on};

    /// Contents of the screen, for the thread that plays the user.
    #[derive(Default)]
    struct Shown {
        text: Mutex<(String, usize, String)>,
        changed: Condvar,
    }

    struct FakeScreen(Terminal<TestBackend>, Arc<Shown>);

    impl Screen for FakeScreen {
        fn draw(&mut self, paint: &mut dyn FnMut(&mut Frame)) -> io::Result<()> {
            self.0.draw(|frame| paint(frame)).map_err(io::Error::other)?;
            let mut shown = self.1.text.lock().unwrap();
            shown.0 = self.0.backend().to_string();
            shown.1 += 1;
            self.1.changed.notify_all();
            Ok(())
        }

        fn clear(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn send(&mut self, sequence: &str) -> io::Result<()> {
            self.1.text.lock().unwrap().2.push_str(sequence);
            Ok(())
        }

        fn mouse(&mut self, on: bool) -> io::Result<()> {
            self.send(if on { "mouse on" } else { "mouse off" })
        }

        fn suspend(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn lend(&mut self, run: &mut dyn FnMut()) -> io::Result<()> {
            run();
            Ok(())
        }

        fn retake(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn size(&self) -> io::Result<(u16, u16)> {
            Ok((100, 30))
        }
    }

    struct FakeInputs(Option<UnboundedReceiver<Input>>);

    impl Inputs for FakeInputs {
        fn open(&mut self) -> InputStream {
            let mut receiver = self.0.take().unwrap();
            Box::pin(futures_util::stream::poll_fn(move |cx| receiver.poll_recv(cx).map(|e| e.map(Ok))))
        }
    }

    /// Plays the user.
    struct User(Arc<Shown>, UnboundedSender<Input>);

    impl User {
        fn sees(&self, words: &str) {
            let mut shown = self.0.text.lock().unwrap();
            while !shown.0.contains(words) {
                let (next, late) = self.0.changed.wait_timeout(shown, Duration::from_secs(30)).unwrap();
                shown = next;
                assert!(!late.timed_out(), "{words:?} did not come, but:\n{}", shown.0);
            }
        }

        fn presses(&self, c: char) {
            let _ = self.1.send(Input::Key(Key::plain(Code::Char(c))));
        }

        fn presses_key(&self, code: Code) {
            let _ = self.1.send(Input::Key(Key::plain(code)));
        }
    }

    /// Writes the same line, once for each candidate, and then many steps at once.
    struct Flood;

    impl Source for Flood {
        fn info(&self) -> SourceInfo {
            SourceInfo { model: "flood".into(), ..SourceInfo::default() }
        }

        fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
            let ticket = Ticket::new(request.options.n);
            thread::spawn(move || {
                for candidate in 0..request.options.n {
                    for _ in 0..500 {
                        let (ids, logprobs) = (vec![1], vec![-0.5]);
                        let _ = sink(Event::Tokens {
                            candidate,
                            text: " ".into(),
                            ids,
                            logprobs,
                            alternatives: Vec::new(),
                            drafted: 0,
                            accepted: 0,
                        });
                    }
                    let (reason, text) = (crate::engine::FinishReason::Stop, format!("    return {candidate}\n"));
                    let _ = sink(Event::Finished { candidate, reason, text, mean_logprob: Some(-0.5) });
                }
                let ranking = (0..request.options.n).collect();
                let _ = sink(Event::Done(Box::new(Summary { ranking, ..Summary::default() })));
            });
            ticket
        }
    }

    /// Only the second candidate passes; the third makes the judge itself fail.
    #[derive(Clone)]
    struct Second(Protection);

    impl Judge for Second {
        fn protection(&self) -> &Protection {
            &self.0
        }

        fn may_run(&self) -> bool {
            true
        }

        fn run(&self, trial: &Trial, _: &Arc<std::sync::atomic::AtomicBool>) -> Result<Verdict, TrialError> {
            assert!(!trial.program.contains("return 2"), "the judge fails");
            let status = if trial.program.contains("return 1") { Status::Passed } else { Status::Failed };
            Ok(Verdict { status, ..Verdict::not_run("") })
        }

        fn allow_unprotected(&self) -> Arc<dyn Judge> {
            Arc::new(self.clone())
        }
    }

    /// Runs a session against a user; returns its outcome, the frames drawn and the sequences sent.
    fn session(
        open_fails: bool,
        user: impl FnOnce(&User) + Send + 'static,
    ) -> (Result<Outcome, TuiError>, usize, String) {
        let shown = Arc::new(Shown::default());
        let (sender, receiver) = unbounded_channel();
        let actor = User(shown.clone(), sender);
        let thread = thread::spawn(move || {
            user(&actor);
            actor
        });
        let isolated = Protection { landlock_abi: 5, seccomp: true, no_new_privs: true, ..Protection::default() };
        let setup = Setup {
            notice: None,
            job: Job::from_text(PROMPT, &TestsChoice::Auto).unwrap(),
            open: Box::new(move |_| {
                if open_fails {
                    Err("no such model".to_owned())
                } else {
                    Ok((Arc::new(Flood), TrialPool::new(Arc::new(Second(isolated))).unwrap()))
                }
            }),
            options: GenerateOptions { n: 3, ..GenerateOptions::default() },
            default_stops: true,
            limits: Limits::default(),
            keys: std::collections::BTreeMap::new(),
            theme: "dark".into(),
            state_dir: std::path::PathBuf::new(),
            history: true,
            resumed: None,
            themes_dir: std::path::PathBuf::new(),
            tests_allowed: false,
            stop_on_pass: false,
            agree: false,
            rounds: 1,
            watch: false,
            functions: crate::tui::Functions::default(),
            live: None,
        };
        let theme = Theme::find("dark", std::path::Path::new(""), false, Depth::True).unwrap();
        let mut screen = FakeScreen(Terminal::new(TestBackend::new(100, 30)).unwrap(), shown.clone());
        let outcome = run_on(setup, theme, &mut screen, &mut FakeInputs(Some(receiver)), Extras::default());
        thread.join().unwrap();
        let text = shown.text.lock().unwrap();
        (outcome, text.1, text.2.clone())
    }

    #[test]
    fn a_session_from_the_first_key_to_the_accepted_program() {
        let (outcome, frames, sent) = session(false, |user| {
            user.sees("flood");
            user.presses('g');
            user.sees("PICK");
            user.sees("NOT TESTED");
            user.presses_key(Code::Esc);
            user.presses('y');
            user.sees("sent to the terminal");
            user.presses_key(Code::Enter);
        });
        let accepted = outcome.unwrap().accepted.unwrap();
        assert!(accepted.starts_with(PROMPT) && accepted.contains("return 1"), "{accepted}");
        assert_eq!(sent, crate::tui::clipboard::sequence("    return 1\n", false).unwrap());
        assert!(frames < 200, "1500 events were drawn in {frames} frames");
    }

    #[test]
    fn models_that_cannot_be_loaded_are_said() {
        let (outcome, _, _) = session(true, |user| {
            user.sees("ERROR: no such model");
            user.presses('q');
        });
        assert_eq!(outcome.unwrap(), Outcome::default());
    }

    #[test]
    fn a_terminal_that_goes_away_ends_the_session() {
        let (sender, receiver) = unbounded_channel();
        drop(sender);
        let shown = Arc::new(Shown::default());
        let setup = Setup {
            notice: None,
            job: Job::from_text("", &TestsChoice::None).unwrap(),
            open: Box::new(|_| Err(String::new())),
            options: GenerateOptions::default(),
            default_stops: true,
            limits: Limits::default(),
            keys: std::collections::BTreeMap::new(),
            theme: "dark".into(),
            state_dir: std::path::PathBuf::new(),
            history: true,
            resumed: None,
            themes_dir: std::path::PathBuf::new(),
            tests_allowed: false,
            stop_on_pass: false,
            agree: false,
            rounds: 1,
            watch: false,
            functions: crate::tui::Functions::default(),
            live: None,
        };
        let theme = Theme::find("dark", std::path::Path::new(""), false, Depth::True).unwrap();
        let mut screen = FakeScreen(Terminal::new(TestBackend::new(9, 2)).unwrap(), shown);
        let outcome = run_on(setup, theme, &mut screen, &mut FakeInputs(Some(receiver)), Extras::default());
        assert!(matches!(outcome, Err(TuiError::Closed)), "{outcome:?}");
    }
}
