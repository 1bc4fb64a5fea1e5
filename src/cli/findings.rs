//! The setup that `doctor` and `init` find for a file of the user's: its project, interpreter and tests, and
//! one trial of the unchanged file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::args::TestArgs;
use super::progress::during;
use crate::code::{Target, TargetSpec};
use crate::job::{Job, Task};
use crate::language::Language;
use crate::options::Settings;
use crate::trial::{Project, Runner, Status, Trial, Verdict};

/// The setup of a file.
#[derive(Serialize)]
pub struct Findings {
    file: PathBuf,
    function: String,
    language: &'static str,
    /// The root of its repository or project. `None` for a lone file.
    root: Option<PathBuf>,
    /// The folder that tests start in.
    package: Option<PathBuf>,
    /// The Python interpreter, and the reason for its choice.
    interpreter: Option<Result<String, String>>,
    /// Its tests, with the reason.
    tests: Option<String>,
    /// The place where they run.
    place: Option<&'static str>,
    /// The verdict on the unchanged file, or the reason why the tests could not be run.
    trial: Option<Result<Verdict, String>>,
}

/// Returns true if examples or other tests are found for a function.
pub fn has_tests(spec: &TargetSpec, settings: &Settings) -> bool {
    during(&format!("looking for tests of {}", spec.path.display()), false, || {
        let job = Target::read(spec).ok().and_then(|target| job_of(target, settings).ok());
        job.is_some_and(|job| job.has_tests())
    })
}

fn job_of(target: Target, settings: &Settings) -> Result<Job, String> {
    Job::from_target(target, &TestArgs::default().choice(settings)).map_err(|e| e.to_string())
}

impl Findings {
    /// Examines a file or a function of it. The error is a sentence.
    pub fn of(spec: &TargetSpec, runner: &Runner, settings: &Settings) -> Result<Self, String> {
        let target = Target::read(spec).map_err(|e| e.to_string())?;
        let job = job_of(target.clone(), settings)?;
        let file = target.path.unwrap_or_default();
        let project = Project::around(&file, None);
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let interpreter = (target.language == Language::Python).then(|| {
            let found = runner.tool(Language::Python, folder).map_err(|e| e.to_string());
            found.map(|(program, why)| format!("{} ({why})", program.display()))
        });
        let place = |in_project| if in_project { "in a copy of the project" } else { "in a folder made for them" };
        let place = job.tests.as_ref().map(|tests| place(tests.are_in_project()));
        let what = format!("running the tests of {} as it is, and without it", target.name);
        let trial = job.trial(0, "", settings.limits).filter(|_| runner.may_run()).map(|trial| {
            let trial = Trial { program: target.text, ..trial };
            during(&what, false, || runner.run(&trial, &Arc::default())).map_err(|e| e.to_string())
        });
        Ok(Self {
            function: target.name,
            language: target.language.name(),
            root: project.as_ref().map(|project| project.root.clone()),
            package: project.map(|project| project.root.join(project.package)),
            interpreter,
            tests: Some(job.tests_label.clone()).filter(|label| !label.is_empty()),
            place,
            trial,
            file,
        })
    }

    /// Returns true if its tests, if there are any, can be run and give a result.
    pub fn can_be_run(&self) -> bool {
        self.trial.as_ref().is_none_or(|trial| trial.as_ref().is_ok_and(|verdict| verdict.status != Status::NotRun))
    }

    /// Returns true if its tests, if there are any, pass.
    pub fn has_passed(&self) -> bool {
        self.trial.as_ref().is_none_or(|trial| trial.as_ref().is_ok_and(Verdict::has_passed))
    }

    /// Returns true if its tests can be run, and do not notice the function.
    pub fn is_unnoticed(&self) -> bool {
        let is_so = |verdict: &Verdict| verdict.status == Status::NotRun && !verdict.is_unheard;
        self.trial.as_ref().is_some_and(|trial| trial.as_ref().is_ok_and(is_so))
    }

    pub fn text(&self) -> String {
        let project = match (&self.root, &self.package) {
            (Some(root), Some(package)) if root == package => root.display().to_string(),
            (Some(root), Some(package)) => format!("{}, package {}", root.display(), package.display()),
            _ => "none: the file stands on its own".to_owned(),
        };
        let interpreter = self.interpreter.as_ref().map(|found| found.as_ref().unwrap_or_else(|why| why));
        let interpreter = interpreter.map(|found| line("interpreter", found)).unwrap_or_default();
        line("project", &project) + &interpreter + &self.text_of_tests()
    }

    /// The text of the findings without the facts shared by the whole project.
    pub fn text_of_tests(&self) -> String {
        let file = format!("{}:{} ({})", self.file.display(), self.function, self.language);
        let none = "none found: no examples, and no tests file calls the function or is named after its file";
        let place = self.place.map(|place| format!("; they run {place}")).unwrap_or_default();
        let tests = format!("{}{place}", self.tests.as_deref().unwrap_or(none));
        let trial = match &self.trial {
            Some(Ok(verdict)) => {
                let words = format!("{}: {} ({})", verdict.status.word(), verdict.words(), verdict.time());
                line("as it is", &words)
            }
            Some(Err(why)) => line("as it is", &format!("not tried: {why}")),
            None => String::new(),
        };
        line("file", &file) + &line("tests", &tests) + &trial
    }
}

fn line(name: &str, what: &str) -> String {
    format!("{name:<13} {what}\n")
}
