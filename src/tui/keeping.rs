//! Records of a session that the world keeps: copies of files before they are written, the records of its
//! runs, and the job of each.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::app::past::{MOST, Recalled};
use crate::code::Applied;
use crate::engine::GenerateOptions;
use crate::history::{self, Head, History, Kept, Recorder, Said};
use crate::job::Job;
use crate::source::SourceInfo;
use crate::trial::Observed;

/// Folders that things are kept in, and the runs so far.
#[derive(Default)]
pub struct Keeping {
    /// Where copies of files go before they are written; nowhere if empty.
    backups: PathBuf,
    history: Option<History>,
    runs: BTreeMap<u64, Of>,
    /// Failures were said.
    has_said: bool,
}

/// A run of the session.
struct Of {
    job: Arc<Job>,
    recorder: Option<Recorder>,
    /// The id of a run that was kept earlier.
    kept: Option<String>,
    /// The screen went to another function since, so that its list lacks the run.
    is_left: bool,
}

impl Keeping {
    /// Keeps copies and, if wished, runs in the state folder; nothing if that is empty.
    pub fn new(state: &Path, with_history: bool) -> Self {
        if state.as_os_str().is_empty() {
            return Self::default();
        }
        let history = with_history.then(|| History::at(state.join("runs")));
        Self { backups: state.join("backups"), history, ..Self::default() }
    }

    /// Where copies of files go before they are written.
    pub fn backups(&self) -> Option<&Path> {
        (!self.backups.as_os_str().is_empty()).then_some(self.backups.as_path())
    }

    /// A run begins. Returns its record if there is one, and a sentence if it cannot be written for the first
    /// time.
    pub fn begin(
        &mut self,
        run: u64,
        job: &Arc<Job>,
        info: &SourceInfo,
        options: &GenerateOptions,
    ) -> (Option<Recorder>, Option<String>) {
        let begun = self.history.as_ref().map(|history| history.begin(&Head::of(job, info, options)));
        let (recorder, error) = match begun {
            Some(Ok(recorder)) => (Some(recorder), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        self.insert(run, Of { job: job.clone(), recorder: recorder.clone(), kept: None, is_left: false });
        let said = error.filter(|_| !std::mem::replace(&mut self.has_said, true));
        let said = said.map(|why| format!("runs are not kept: {why} (`history = false` keeps none)"));
        (recorder, said)
    }

    /// A kept run is one of the session's now.
    pub fn belongs(&mut self, run: u64, job: Arc<Job>, kept: String) {
        self.insert(run, Of { job, recorder: None, kept: Some(kept), is_left: false });
    }

    /// The screen goes to another function: its list of runs begins anew.
    pub fn leave(&mut self) {
        self.runs.values_mut().for_each(|of| of.is_left = true);
    }

    fn insert(&mut self, run: u64, of: Of) {
        self.runs.insert(run, of);
        // More than the screen can show, so that none of its runs is without a job.
        while self.runs.len() > 4 * MOST {
            self.runs.pop_first();
        }
    }

    /// The job of a run.
    pub fn job(&self, run: u64) -> Option<&Arc<Job>> {
        self.runs.get(&run).map(|of| &of.job)
    }

    /// The current run, and those of the same text, have this job from now on.
    pub fn renew(&mut self, current: Option<u64>, job: &Arc<Job>) {
        let text = job.editable();
        let same = self.runs.iter_mut().filter(|(run, of)| current == Some(**run) || of.job.editable() == text);
        same.for_each(|(_, of)| of.job = job.clone());
    }

    /// A candidate was written to its file.
    pub fn applied(&mut self, run: u64, candidate: usize, applied: &Applied, diff: String) -> Option<String> {
        self.recorder(run)?.applied(candidate, applied, diff)
    }

    /// A candidate was handed over, as there is no file.
    pub fn handed_over(&mut self, run: u64, text: &str) {
        let _ = self.recorder(run).and_then(|recorder| recorder.handed_over(text));
    }

    /// The session ends, and these candidates of a run with their texts so far.
    pub fn cut(&self, run: u64, texts: Vec<(usize, String)>) {
        if let Some(recorder) = self.runs.get(&run).and_then(|of| of.recorder.as_ref()) {
            recorder.cut(texts);
        }
    }

    /// The user has said that these answers are right; the job has the examples of them.
    pub fn said(&mut self, run: u64, answers: &[(String, Observed)], job: &Job) -> Option<String> {
        let said = Said::of(answers, &job.editable().unwrap_or_default(), &job.tests_label);
        self.recorder(run)?.said(said)
    }

    /// A candidate that a run wrote was taken back.
    pub fn undone(&mut self, run: u64, applied: &Applied) -> Option<String> {
        let backup = applied.backup.as_deref().and_then(Path::file_name);
        let backup = backup.map(|name| name.to_string_lossy().into_owned());
        self.recorder(run)?.undone(backup)
    }

    /// The record of a run; that of a kept one is opened when something is to be added.
    fn recorder(&mut self, run: u64) -> Option<&Recorder> {
        let of = self.runs.get_mut(&run)?;
        if let (None, Some(id), Some(history)) = (&of.recorder, &of.kept, &self.history) {
            of.recorder = history.append(id).ok();
        }
        of.recorder.as_ref()
    }

    /// Reads the kept runs of a job's function that are not in the list of the screen, when called.
    pub fn earlier(&self, job: Arc<Job>) -> impl FnOnce() -> Vec<Recalled> + Send + use<> {
        let listed: Vec<String> = self.runs.values().filter(|of| !of.is_left).filter_map(Of::id).collect();
        let history = self.history.clone();
        move || {
            let files = history.iter().flat_map(History::files).filter(|file| !listed.contains(&file.id));
            let fitting = files.filter(|file| Kept::head_of(file).is_some_and(|head| head.is_of(&job)));
            let read = fitting.filter_map(|file| Kept::read(&file).ok());
            let mut runs: Vec<Recalled> = read.take(MOST).map(|kept| recalled(&kept, &job)).collect();
            runs.reverse();
            runs
        }
    }
}

impl Of {
    fn id(&self) -> Option<String> {
        self.kept.clone().or_else(|| self.recorder.as_ref().map(|recorder| recorder.id().to_owned()))
    }
}

/// A kept run for the screen. `now` is the job of its function as that is now.
pub fn recalled(kept: &Kept, now: &Arc<Job>) -> Recalled {
    let job = kept.job(now).map(|job| if job == **now { now.clone() } else { Arc::new(job) });
    let (when, model) = (history::time(kept.head.at, history::now()), &kept.head.model);
    Recalled {
        id: kept.file.id.clone(),
        at: kept.head.at,
        // Other models may be loaded now than the one that wrote it.
        when: if model.is_empty() { when } else { format!("{when}, by {model}") },
        seed: kept.head.seed,
        n: kept.generated(),
        events: kept.events(),
        job,
        applied: None,
        answers: kept.said().map(Said::answers).unwrap_or_default(),
        wish: kept.head.wish.clone(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;
    use std::sync::Mutex;
    use std::sync::mpsc::{Receiver, Sender, channel};

    use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

    use super::*;
    use crate::code::{Place, Target, TargetSpec};
    use crate::engine::{Event as From, FinishReason};
    use crate::history::What;
    use crate::job::run::tests::{STUB, Scripted, TEXTS, unsteady};
    use crate::job::{Event, TestsChoice};
    use crate::source::{EventSink, Request, Source, Ticket};
    use crate::trial::{Limits, Status};
    use crate::tui::Extras;
    use crate::tui::app::picker::Chosen;
    use crate::tui::app::{Msg, State, Testing, update};
    use crate::tui::event::Key;
    use crate::tui::keymap::Keymap;
    use crate::tui::world::{Incoming, LoopAction, World};

    /// The screen without its terminal: state and world, and the messages between them.
    pub(in crate::tui) struct Screen {
        pub state: State,
        pub world: World,
        incoming: UnboundedReceiver<Incoming>,
        left: Option<String>,
    }

    impl Screen {
        pub fn on(path: &Path, state_dir: &Path) -> Self {
            let spec = TargetSpec { path: path.to_path_buf(), place: Place::Any };
            let job = Job::from_target(Target::read(&spec).unwrap(), &TestsChoice::Auto).unwrap();
            Self::of(job, state_dir)
        }

        fn of(job: Job, state_dir: &Path) -> Self {
            let job = Arc::new(job);
            let (sender, incoming) = unbounded_channel();
            let options = GenerateOptions { n: TEXTS.len(), ..GenerateOptions::default() };
            let state = State::new(job.clone(), options.clone(), Keymap::default(), true);
            let keeping = Keeping::new(state_dir, true);
            let mut world =
                World::new(job, (options, true), (Limits::default(), false), keeping, Extras::default(), sender);
            let opened = world.opened(Ok((Arc::new(Scripted), unsteady().0)));
            let mut this = Self { state, world, incoming, left: None };
            this.send(opened);
            this
        }

        pub fn send(&mut self, msg: Msg) {
            for effect in update(&mut self.state, 0, msg) {
                if let LoopAction::Quit(text) = self.world.act(effect) {
                    self.left = text.accepted;
                }
            }
        }

        pub fn key(&mut self, name: &str) {
            self.send(Msg::Key(Key::parse(name).unwrap()));
        }

        /// Takes messages in up to the wanted one.
        pub fn until(&mut self, wanted: fn(&Msg) -> bool) {
            loop {
                let Some(Incoming::App(msg)) = self.incoming.blocking_recv() else { panic!("nothing but messages") };
                let is_wanted = wanted(&msg);
                self.send(msg);
                if is_wanted {
                    return;
                }
            }
        }

        pub fn generate(&mut self, key: &str) {
            self.key(key);
            self.until(|msg| matches!(msg, Msg::Job { event: Event::Done(_), .. }));
        }
    }

    fn kinds(kept: &Kept) -> Vec<&'static str> {
        let kinds = kept.lines.iter().filter_map(|line| match &line.what {
            What::Taken(_) => Some("taken"),
            What::Undone { .. } => Some("undone"),
            What::Ended { .. } => Some("ended"),
            _ => None,
        });
        kinds.collect()
    }

    #[test]
    fn a_session_is_kept_and_its_runs_are_there_in_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let (path, state) = (folder.path().join("twice.py"), folder.path().join("state"));
        fs::write(&path, STUB).unwrap();
        let history = History::at(state.join("runs"));

        let mut screen = Screen::on(&path, &state);
        screen.generate("g");
        screen.key("enter");
        screen.until(|msg| matches!(msg, Msg::Applied { .. }));
        screen.key("u");
        screen.until(|msg| matches!(msg, Msg::Undone(_)));
        let kept = history.read(None).unwrap();
        assert_eq!(kinds(&kept), ["ended", "taken", "undone"]);
        assert_eq!(kept.candidates().iter().map(|c| c.text.as_str()).collect::<Vec<_>>(), TEXTS);
        let (first, pick) = (kept.file.id.clone(), screen.state.run.as_ref().unwrap().pick);
        assert_eq!(kept.candidates().iter().filter(|c| c.has_passed()).count(), 3);

        // The next session shows it, and takes from it.
        let mut screen = Screen::on(&path, &state);
        screen.generate("g");
        screen.key("[");
        screen.until(|msg| matches!(msg, Msg::Recalled(_)));
        assert!(screen.state.past.words().unwrap().starts_with("run 1 of 2, "));
        let run = screen.state.run.as_ref().unwrap();
        assert_eq!((run.pick, run.focus), (pick, pick.unwrap()));
        for (c, text) in TEXTS.iter().enumerate() {
            let Testing::Done(verdict) = run.testing(c) else { panic!("{:?}", run.testing(c)) };
            assert_eq!(verdict.status == Status::Passed, text.contains("x + x"), "{c}");
        }
        screen.key("enter");
        screen.until(|msg| matches!(msg, Msg::Applied { .. }));
        assert!(fs::read_to_string(&path).unwrap().contains(TEXTS[pick.unwrap()]));
        assert_eq!(kinds(&history.read(Some(&first)).unwrap()), ["ended", "taken", "undone", "taken"]);

        // Gone on with, it knows what is in the file and takes it back.
        let mut screen = Screen::on(&path, &state);
        let recalled = screen.world.resume(&state, &first).unwrap();
        screen.send(Msg::Resumed(Box::new(recalled)));
        assert!(screen.state.is_in_file(pick.unwrap()));
        screen.key("u");
        screen.until(|msg| matches!(msg, Msg::Undone(_)));
        assert_eq!(fs::read_to_string(&path).unwrap(), STUB);
        assert!(history.read(Some(&first)).unwrap().taken().is_none());
    }

    /// Writes, and never ends.
    struct Endless;

    impl Source for Endless {
        fn info(&self) -> SourceInfo {
            SourceInfo::default()
        }

        fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
            for candidate in 0..2 {
                let text = "    return x\n".to_owned();
                let (ids, logprobs, alternatives) = (vec![1], vec![-0.5], Vec::new());
                let _ = sink(From::Tokens { candidate, text, ids, logprobs, alternatives, drafted: 0, accepted: 0 });
            }
            let (reason, text) = (FinishReason::Stop, "    return 1\n".to_owned());
            let _ = sink(From::Finished { candidate: 1, reason, text, mean_logprob: None });
            Ticket::new(request.options.n)
        }
    }

    /// Writes parameters once it may, and candidates. Tells what it is asked for, and if parameters are still
    /// wanted then, or if candidates may have the tokens of a body beside the usual ones.
    struct Parameters(Mutex<Option<Receiver<()>>>, Sender<(usize, Option<String>, bool)>);

    impl Source for Parameters {
        fn info(&self) -> SourceInfo {
            SourceInfo::default()
        }

        fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
            let asked = (request.options.n, request.reference.clone());
            if request.options.n > 1 {
                let has_room = request.options.max_tokens > GenerateOptions::default().max_tokens;
                let _ = self.1.send((asked.0, asked.1, has_room));
                return Scripted.generate(request, sink);
            }
            if let Some(may) = self.0.lock().unwrap().as_ref() {
                may.recv().unwrap();
            }
            let (reason, text) = (FinishReason::Stop, "(x, skip=None):\n".to_owned());
            let goes_on = sink(From::Finished { candidate: 0, reason, text, mean_logprob: None }).is_continue();
            let _ = self.1.send((asked.0, asked.1, goes_on));
            if goes_on {
                let _ = sink(From::Done(Box::default()));
            }
            Ticket::new(1)
        }
    }

    #[test]
    fn parameters_of_a_wish_are_written_beside_the_loop_and_kept_with_its_run() {
        let folder = tempfile::tempdir().unwrap();
        let (path, state) = (folder.path().join("twice.py"), folder.path().join("state"));
        fs::write(&path, format!("{STUB}    return 0\n")).unwrap();
        let wish = |screen: &mut Screen, source: Parameters| {
            let opened = screen.world.opened(Ok((Arc::new(source), unsteady().0)));
            screen.send(opened);
            screen.key("I");
            screen.send(Msg::Paste("add a parameter skip".to_owned()));
            screen.key("enter");
        };
        let (tell, told) = channel();
        let mut screen = Screen::on(&path, &state);
        wish(&mut screen, Parameters(Mutex::new(None), tell));
        screen.until(|msg| matches!(msg, Msg::Job { event: Event::Done(_), .. }));
        let body = Some("    return 0\n".to_owned());
        assert_eq!(told.try_iter().collect::<Vec<_>>(), [(1, body.clone(), true), (TEXTS.len(), body.clone(), true)]);
        assert!(screen.state.draft.text().contains("(x, skip=None)"), "{}", screen.state.draft.text());
        let kept = History::at(state.join("runs")).read(None).unwrap();
        assert_eq!(kept.head.wish.as_deref(), Some("add a parameter skip"));
        assert!(kept.head.stub.contains("(x, skip=None)"));

        // Once they are not wanted any more the models are told.
        let (tell, told) = channel();
        let (may, wait) = channel();
        let mut screen = Screen::on(&path, &state);
        wish(&mut screen, Parameters(Mutex::new(Some(wait)), tell));
        screen.key("esc");
        may.send(()).unwrap();
        assert_eq!(told.recv().unwrap(), (1, body, false));
        screen.until(|msg| matches!(msg, Msg::Head { stub: None, .. }));
        assert!(screen.state.run.is_none());
    }

    #[test]
    fn text_that_was_on_the_screen_is_kept_when_the_session_ends() {
        let folder = tempfile::tempdir().unwrap();
        let job = Job::from_text(STUB, &TestsChoice::None).unwrap();
        let mut screen = Screen::of(job.clone(), folder.path());
        let opened = screen.world.opened(Ok((Arc::new(Endless), unsteady().0)));
        screen.send(opened);
        screen.key("g");
        screen.until(|msg| matches!(msg, Msg::Job { event: Event::Source(From::Finished { .. }), .. }));
        screen.key("q");
        screen.key("q");
        screen.world.close(&screen.state);
        let kept = History::at(folder.path().join("runs")).read(None).unwrap();
        let ended = kept.candidates().into_iter().map(|c| (c.text, c.reason)).take(3).collect::<Vec<_>>();
        let [stopped, whole] = ["    return x\n", "    return 1\n"].map(str::to_owned);
        let reasons = [Some(FinishReason::Cancelled), Some(FinishReason::Stop)];
        assert_eq!(ended, [(stopped, reasons[0]), (whole, reasons[1]), (String::new(), None)]);
    }

    #[test]
    fn runs_of_the_session_are_kept_ones_after_their_function_was_left() {
        let folder = tempfile::tempdir().unwrap();
        let mut keeping = Keeping::new(folder.path(), true);
        let job = Arc::new(Job::from_text(STUB, &TestsChoice::Auto).unwrap());
        let info = SourceInfo { model: "model-1b".to_owned(), ..SourceInfo::default() };
        let begin = |keeping: &mut Keeping, run: u64| {
            let (recorder, failed) = keeping.begin(run, &job, &info, &GenerateOptions::default());
            assert_eq!(failed, None);
            recorder.unwrap().id().to_owned()
        };
        let earlier = |keeping: &Keeping| keeping.earlier(job.clone())().into_iter().map(|run| run.id);
        let first = begin(&mut keeping, 1);
        assert_eq!(earlier(&keeping).next(), None, "the screen has it");
        keeping.leave();
        assert!(earlier(&keeping).eq([first.clone()]));
        assert!(keeping.earlier(job.clone())()[0].when.ends_with(", by model-1b"));
        begin(&mut keeping, 2);
        assert!(earlier(&keeping).eq([first.clone()]), "the screen has the second");
        keeping.belongs(3, job.clone(), first);
        assert_eq!(earlier(&keeping).next(), None, "and the first again");
    }

    #[test]
    fn the_run_of_a_function_is_found_again_after_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let (path, state) = (folder.path().join("twice.py"), folder.path().join("state"));
        fs::write(&path, format!("{STUB}\n\n{}", STUB.replace("twice", "double"))).unwrap();
        let job = |name: &str| {
            let spec = TargetSpec { path: path.clone(), place: Place::Function(name.to_owned()) };
            Job::from_target(Target::read(&spec).unwrap(), &TestsChoice::Auto).unwrap()
        };
        let choose = |screen: &mut Screen, name: &str| {
            let ask = screen.state.picking.number();
            screen.state.picking.wanted = Some(ask);
            let chosen = Chosen { job: Arc::new(job(name)), advice: None };
            screen.send(Msg::Targeted { ask, result: Ok(Some(chosen)) });
        };
        let earlier = |screen: &mut Screen| {
            screen.key("[");
            screen.until(|msg| matches!(msg, Msg::Recalled(_)));
            screen.state.past.words().unwrap_or_default()
        };
        let mut screen = Screen::of(job("twice"), &state);
        screen.generate("g");
        choose(&mut screen, "double");
        assert_eq!(earlier(&mut screen), "", "it has none");
        screen.generate("g");
        choose(&mut screen, "twice");
        assert!(earlier(&mut screen).starts_with("run 1 of 1, "));
        assert_eq!(screen.state.run.as_ref().unwrap().candidates[0].text, TEXTS[0]);
        choose(&mut screen, "double");
        screen.generate("g");
        assert!(earlier(&mut screen).starts_with("run 1 of 2, "));
    }

    #[test]
    fn what_is_handed_over_is_the_program_of_the_shown_run() {
        let folder = tempfile::tempdir().unwrap();
        let mut screen = Screen::of(Job::from_text(STUB, &TestsChoice::Auto).unwrap(), folder.path());
        screen.generate("g");
        screen.key("i");
        screen.send(Msg::Paste("    # another\n".to_owned()));
        screen.generate("f5");
        screen.key("[");
        screen.key("enter");
        let program = screen.left.clone().unwrap();
        assert!(program.starts_with(STUB) && !program.contains("# another"), "{program}");
        let kept: Vec<Kept> = History::at(folder.path().join("runs")).runs().collect();
        let taken = kept.iter().find_map(|kept| Some((kept.head.stub.clone(), kept.taken()?.candidate)));
        assert_eq!(taken, Some((STUB.to_owned(), screen.state.run.as_ref().and_then(|run| run.pick))));
    }

    #[test]
    fn runs_that_cannot_be_kept_are_said_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("runs"), "in the way").unwrap();
        let mut screen = Screen::of(Job::from_text(STUB, &TestsChoice::Auto).unwrap(), folder.path());
        screen.generate("g");
        let why = screen.state.error.clone().unwrap();
        assert!(why.contains("runs are not kept") && why.contains("history = false"), "{why}");
        assert!(screen.state.run.as_ref().unwrap().pick.is_some());
        screen.generate("R");
        assert_eq!(screen.state.error, None);
    }

    #[test]
    fn nothing_is_kept_without_a_folder_or_where_it_is_not_wished() {
        let folder = tempfile::tempdir().unwrap();
        for keeping in [Keeping::new(Path::new(""), true), Keeping::new(folder.path(), false)] {
            let mut keeping = keeping;
            let job = Arc::new(Job::from_text(STUB, &TestsChoice::Auto).unwrap());
            let begun = keeping.begin(1, &job, &SourceInfo::default(), &GenerateOptions::default());
            assert!(begun.0.is_none() && begun.1.is_none());
            assert!(keeping.earlier(job)().is_empty());
        }
        assert!(!folder.path().join("runs").exists());
    }
}
