//! What the program of a trial uses that neither the user's own text nor the tests ask for.

use std::path::Path;

use super::case::{Tests, Trial};
use super::language;
use super::project::Project;
use super::reach::{self, Reach};
use crate::files;

/// The uses of a trial's program that nobody asked for.
pub fn of(trial: &Trial) -> Vec<Reach> {
    let (own, tests) = texts(&trial.tests);
    let own = trial.stub.clone().unwrap_or(own);
    // Of a file that is tested as it is, the function that is named is the candidate.
    let rest = || trial.stub.as_ref().and_then(|_| trial.with_body("")).unwrap_or_default();
    let own = if own == trial.program { rest() } else { own };
    reach::added(trial.language, language::reach(trial.language), &trial.program, &own, &tests)
}

/// The user's own text as far as the tests know it, and theirs.
fn texts(tests: &Tests) -> (String, String) {
    let read = |project: &Project, file: &Path| {
        let bytes = files::read(&project.root.join(file), files::TEXT).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    match tests {
        Tests::Doctest { source } => (source.clone(), String::new()),
        Tests::Source { text, .. } => (String::new(), text.clone()),
        Tests::Project(project) => {
            let tests = project.tests.as_deref().map(|tests| read(project, tests));
            (read(project, &project.file), tests.unwrap_or_default())
        }
        Tests::Several(all) => {
            let each = all.iter().map(texts);
            each.reduce(|one, other| (one.0, one.1 + &other.1)).unwrap_or_default()
        }
        // Each is asked on its own; which of them decides is not known here.
        Tests::FirstOf(all) => all.first().map(|(tests, _)| texts(tests)).unwrap_or_default(),
        Tests::Command { project, .. } => {
            (project.as_ref().map(|project| read(project, &project.file)).unwrap_or_default(), String::new())
        }
    }
}
