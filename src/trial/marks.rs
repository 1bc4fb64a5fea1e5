//! Suspicious uses in a trial's program that neither the user's own text nor the tests ask for.

use std::path::Path;

use super::case::{Tests, Trial};
use super::language;
use super::project::Project;
use super::suspicious::{self, SuspiciousUse};
use crate::files;

/// The uses of a trial's program that nobody asked for.
pub fn of(trial: &Trial) -> Vec<SuspiciousUse> {
    let (own, tests) = texts(&trial.tests);
    let own = trial.stub.clone().unwrap_or(own);
    // In a file that is tested as it is, the named function is the candidate.
    let rest = || trial.stub.as_ref().and_then(|_| trial.with_body("")).unwrap_or_default();
    let own = if own == trial.program { rest() } else { own };
    suspicious::added(trial.language, &language::row(trial.language).suspicious, &trial.program, &own, &tests)
}

/// The user's own text as far as the tests know it, and the text of the tests.
fn texts(tests: &Tests) -> (String, String) {
    let read = |project: &Project, file: &Path| {
        let bytes = files::read(&project.root.join(file), files::TEXT).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    match tests {
        Tests::Lone(lone) => (String::new(), lone.tests.as_ref().map_or(String::new(), |(_, text)| text.clone())),
        Tests::Project(project) => {
            let tests = project.tests.as_deref().map(|tests| read(project, tests));
            // The text of a lone file may be the candidate's.
            let own = if project.lone.is_some() { String::new() } else { read(project, &project.file) };
            (own, tests.unwrap_or_default())
        }
        Tests::Several(all) => {
            let each = all.iter().map(texts);
            each.reduce(|one, other| (one.0, one.1 + &other.1)).unwrap_or_default()
        }
        // Each is examined on its own. It is not known here which of them decides.
        Tests::FirstOf(all) => all.first().map(|(tests, _)| texts(tests)).unwrap_or_default(),
        Tests::Command { project, .. } => {
            (project.as_ref().map(|project| read(project, &project.file)).unwrap_or_default(), String::new())
        }
    }
}
