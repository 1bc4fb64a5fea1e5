//! What runs trials in tests.

use bass_tui::language::Language;
use bass_tui::trial::Runner;

/// The runner, or nothing on a machine without a sandbox or the language: then a line says what is missing.
pub fn runner(language: Language) -> Option<Runner> {
    // Each test has its own, as what a runner keeps is removed with it.
    let runner = Runner::probe();
    if !runner.protection().is_isolated() {
        eprintln!("skipped: {}", runner.protection().summary);
        return None;
    }
    if let Err(error) = runner.check_language(language) {
        eprintln!("skipped: {}: {error}", language.name());
        return None;
    }
    Some(runner)
}
