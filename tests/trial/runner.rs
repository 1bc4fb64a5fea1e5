//! What runs trials in tests.

use bass_tui::language::Language;
use bass_tui::trial::Runner;

use super::skip;

/// The runner, or nothing on a machine without a sandbox or the language: then a line says what is missing.
pub fn runner(language: Language) -> Option<Runner> {
    // Each test has its own, as what a runner keeps is removed with it.
    let runner = Runner::probe();
    if !runner.protection().is_isolated() {
        skip::as_it_cannot("isolation", &runner.protection().summary);
        return None;
    }
    if let Err(error) = runner.check_language(language) {
        skip::for_want_of(language.name(), error);
        return None;
    }
    Some(runner)
}
