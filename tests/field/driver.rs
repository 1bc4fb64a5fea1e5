//! Checks of each project: the program judges the function as it stands and when it is broken, candidates of
//! a script are completed, and one is written into its file and taken back. Nothing else of the project may
//! change.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;

use bass_tui::code::{Target, TargetSpec};
use bass_tui::engine::GenerateOptions;
use bass_tui::job::{Ask, Event, Job, Outcome, Run, TestsChoice, TrialPool};
use bass_tui::source::{self, EventSink, FinishReason, Request, Source, SourceInfo, Summary, Ticket};
use bass_tui::trial::{Limits, Runner, Status, Verdict};

use crate::place::{Place, parts};
use crate::runner::link_go_packages;
use crate::world::{Done, World, isolated};

/// A function of a project, and what has to come of its bodies.
pub struct Function {
    /// `FILE:FUNCTION`.
    pub target: &'static str,
    /// The tests that are named; those that are found, if there are none.
    pub tests: &'static [&'static str],
    /// Its body in the project.
    pub right: &'static str,
    /// Text in the message of its pass.
    pub passes: &'static str,
    /// Other bodies, and what the message begins with: the test that fails.
    pub wrong: &'static [(&'static str, &'static str)],
}

/// A project in a folder of its own, in a repository if it has one, and the folders of the program.
pub struct Field {
    place: Place,
    world: World,
    runner: Runner,
    has_git: bool,
}

impl Field {
    /// Writes the files and makes what text files cannot hold.
    pub fn new(runner: Runner, source: &str, prepare: &[&str]) -> Self {
        let files = parts(source);
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let (place, world) = (Place::new(&files), World::new());
        let builds = world.state().join("builds");
        link_go_packages(&builds);
        let runner = runner.keeping(&builds);
        let mut field = Self { place, world, runner, has_git: false };
        for line in prepare {
            field.shell(line);
        }
        field.place.look();
        field
    }

    /// Like [`new`](Self::new), in a repository in which all is committed that is not ignored. The commands
    /// `after` run after the commit.
    pub fn in_git(runner: Runner, source: &str, before: &[&str], after: &[&str]) -> Self {
        let commit =
            "git init -q && git add . && git -c user.name=n -c user.email=e -c commit.gpgsign=false commit -qm one";
        let prepare = [before, &[commit], after].concat();
        Self { has_git: true, ..Self::new(runner, source, &prepare) }
    }

    fn shell(&self, line: &str) {
        let mut command = Command::new("sh");
        command.args(["-ec", line]).current_dir(self.place.path()).stdin(Stdio::null());
        command.env_remove("VIRTUAL_ENV").env_remove("GIT_DIR");
        let done = command.output().unwrap();
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Status of the files by git, which writes nothing meanwhile.
    fn status(&self) -> String {
        let words = ["--no-optional-locks", "status", "--porcelain"];
        let done = Command::new("git").args(words).current_dir(self.place.path()).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    }

    /// Output of `test` with these options.
    pub fn test(&self, target: &str, options: &[&str]) -> Done {
        let words = [&["test", target, "--json"], options].concat();
        let out = self.world.command(&words).current_dir(self.place.path()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        self.place.is_as_it_was();
        Done { code: out.status.code(), out: text(out.stdout), err: text(out.stderr) }
    }

    /// All that is said above, for one function.
    #[track_caller]
    pub fn holds(&mut self, function: &Function) {
        let Function { target, tests, right, passes, wrong } = *function;
        let before = self.status();
        let options: Vec<&str> = tests.iter().flat_map(|tests| ["--tests", tests]).collect();
        let said = self.test(target, &options).code(0).json();
        assert!(said["status"] == "passed" && said["message"].as_str().unwrap().contains(passes), "{said}");

        let file = target.split(':').next().unwrap();
        let text = self.place.text(file);
        let (broken, message) = wrong[wrong.len() - 1];
        self.place.write(file, &text.replacen(right, broken, 1));
        let said = self.test(target, &options).code(1).json();
        assert!(said["status"] == "failed" && said["message"].as_str().unwrap().starts_with(message), "{said}");
        self.place.write(file, &text);

        let (job, outcome) = self.complete(function);
        assert_eq!(outcome.picked, Some(wrong.len()), "{target}: {:?}", outcome.candidates);
        for (candidate, (body, message)) in outcome.candidates.iter().zip(wrong) {
            let Verdict { status, message: said, output, .. } = &candidate.verdict;
            assert!(*status == Status::Failed && said.starts_with(message), "{body:?}: {status:?}: {said}\n{output}");
        }
        self.place.is_as_it_was();
        assert_eq!(self.status(), before);

        let applied = job.target().unwrap().apply(broken, Some(&self.world.state())).unwrap();
        assert_eq!(self.status() != before, self.has_git, "{}", self.status());
        applied.undo().unwrap();
        assert_eq!(self.status(), before);
        assert_eq!(self.place.text(file), text);
        let is_it = |path: &PathBuf| path.canonicalize().unwrap() == applied.path.canonicalize().unwrap();
        assert!(self.place.changed().iter().all(is_it), "{:?}", self.place.changed());
        self.place.look();
    }

    /// The candidates of a script: all wrong ones, then the right one.
    fn complete(&self, function: &Function) -> (Arc<Job>, Outcome) {
        let at = |path: &str| self.place.path().join(path).to_str().unwrap().to_owned();
        let target = Target::read(&TargetSpec::parse(&at(function.target)).unwrap()).unwrap();
        let choice = match function.tests {
            [] => TestsChoice::IfAny,
            named => TestsChoice::Named(named.iter().copied().map(at).collect()),
        };
        let job = Arc::new(Job::from_target(target, &choice).unwrap());
        let bodies: Vec<String> = function
            .wrong
            .iter()
            .map(|(body, _)| body)
            .chain([&function.right])
            .map(|body| (*body).to_owned())
            .collect();
        let options = GenerateOptions { n: bodies.len(), ..GenerateOptions::default() };
        let request = Request { prompt: job.prompt(), reference: None, options };
        let ask = Ask {
            request,
            task: job.clone(),
            limits: Limits::default(),
            stop_on_pass: false,
            agree: false,
            rounds: None,
            problem: 0,
        };
        let runner = self.runner.clone();
        let pool = TrialPool::new(Arc::new(if isolated() { runner } else { runner.allow_unprotected() })).unwrap();
        let (send, receive) = channel();
        let sink = Box::new(move |event| {
            let _ = send.send(event);
            ControlFlow::Continue(())
        });
        let _run = Run::start(&Script(bodies), Some(&pool), ask, sink);
        let outcome = receive.iter().find_map(|event| match event {
            Event::Done(outcome) => Some(*outcome),
            Event::Verdict { outcome: Err(why), .. } => panic!("{why}"),
            _ => None,
        });
        (job, outcome.unwrap())
    }
}

/// Says these texts; the first is the best.
struct Script(Vec<String>);

impl Source for Script {
    fn info(&self) -> SourceInfo {
        SourceInfo::default()
    }

    fn generate(&self, request: Request, mut sink: EventSink) -> Ticket {
        let texts = self.0.clone();
        std::thread::spawn(move || {
            for (candidate, text) in texts.iter().cloned().enumerate() {
                let (reason, mean_logprob) = (FinishReason::Stop, Some(-0.1 - candidate as f32));
                let _ = sink(source::Event::Finished { candidate, reason, text, mean_logprob });
            }
            let ranking = (0..texts.len()).collect();
            let _ = sink(source::Event::Done(Box::new(Summary { ranking, ..Summary::default() })));
        });
        Ticket::new(request.options.n)
    }
}
