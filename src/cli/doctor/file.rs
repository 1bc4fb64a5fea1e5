//! What `doctor` finds for a file of the user's: its project, interpreter and tests, and one trial of it as it
//! is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::code::{Target, TargetSpec};
use crate::job::{Job, Task, TestsChoice};
use crate::language::Language;
use crate::trial::{Limits, Project, Runner, Trial, Verdict};

/// What was found.
#[derive(Serialize)]
pub struct Findings {
    file: PathBuf,
    function: String,
    language: &'static str,
    /// The top of its repository or project; `None` for a file on its own.
    root: Option<PathBuf>,
    /// The folder that tests start in.
    package: Option<PathBuf>,
    /// The Python interpreter, and why it is that one.
    interpreter: Option<Result<String, String>>,
    /// Its tests, with the reason.
    tests: Option<String>,
    /// Where they run.
    place: Option<&'static str>,
    /// What came of them on the file as it is, or why they could not be run.
    trial: Option<Result<Verdict, String>>,
}

impl Findings {
    /// Looks at a file or a function of it; a sentence if that cannot be read.
    pub fn of(name: &str, runner: &Runner, limits: Limits) -> Result<Self, String> {
        let target = TargetSpec::parse(name).and_then(|spec| Target::read(&spec)).map_err(|e| e.to_string())?;
        let job = Job::from_target(target.clone(), &TestsChoice::IfAny).map_err(|e| e.to_string())?;
        let file = target.path.unwrap_or_default();
        let project = Project::around(&file, None);
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let interpreter = (target.language == Language::Python).then(|| {
            let found = runner.interpreter(folder).map_err(|e| e.to_string());
            found.map(|(program, why)| format!("{} ({why})", program.display()))
        });
        let place = |in_project| if in_project { "in a copy of the project" } else { "alone with the code" };
        let place = job.tests.as_ref().map(|tests| place(tests.first().are_in_project()));
        let trial = job.trial(0, "", limits).filter(|_| runner.may_run()).map(|trial| {
            let trial = Trial { program: target.text, ..trial };
            runner.run(&trial, &Arc::default()).map_err(|e| e.to_string())
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

    pub fn text(&self) -> String {
        let mut lines = vec![("file", format!("{}:{} ({})", self.file.display(), self.function, self.language))];
        match (&self.root, &self.package) {
            (Some(root), Some(package)) if root == package => lines.push(("project", root.display().to_string())),
            (Some(root), Some(package)) => {
                lines.push(("project", format!("{}, package {}", root.display(), package.display())));
            }
            _ => lines.push(("project", "none: the file stands on its own".to_owned())),
        }
        if let Some(interpreter) = &self.interpreter {
            lines.push(("interpreter", interpreter.clone().unwrap_or_else(|why| why)));
        }
        let none = "none found: no examples, and no tests file calls the function or is named after its file";
        let place = self.place.map(|place| format!("; they run {place}")).unwrap_or_default();
        lines.push(("tests", format!("{}{place}", self.tests.as_deref().unwrap_or(none))));
        match &self.trial {
            Some(Ok(verdict)) => {
                lines.push((
                    "as it is",
                    format!("{}: {} ({} ms)", verdict.status.word(), verdict.words(), verdict.duration_ms),
                ));
            }
            Some(Err(why)) => lines.push(("as it is", format!("not tried: {why}"))),
            None => {}
        }
        let lines = lines.iter().map(|(name, what)| format!("{name:<13} {what}"));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }
}
