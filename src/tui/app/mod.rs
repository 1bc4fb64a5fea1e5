//! The core of the screen: a state, messages that change it, and the effects they ask for. Pure: no terminal,
//! files, processes or clock. Time comes in with each message.

pub mod action;
pub mod alike;
pub mod answer;
mod assertion;
#[cfg(test)]
mod behaviour;
pub mod blocks;
pub mod calls;
pub mod candidate;
#[cfg(test)]
mod chaos;
pub mod choices;
pub mod closest;
pub mod compare;
pub mod diff;
pub mod draft;
pub mod effect;
pub mod example;
pub mod find;
#[cfg(test)]
pub mod fixture;
pub mod groups;
pub mod help;
pub mod matrix;
pub mod mouse;
pub mod moving;
pub mod msg;
pub mod named;
pub mod palette;
#[cfg(test)]
pub(crate) mod palette_tests;
pub mod past;
#[cfg(test)]
mod past_tests;
pub mod picker;
pub mod progress;
pub mod refusal;
pub mod run;
mod similar;
pub mod state;
pub mod stream;
pub mod taking;
pub mod testing;
pub mod tokens;
pub mod update;
pub mod values;
pub mod watch;
#[cfg(test)]
mod watch_tests;
pub mod wish;
#[cfg(test)]
pub(crate) mod wish_tests;
pub mod writing;
pub mod written;

pub use candidate::{Candidate, Phase, Testing};
pub use effect::Effect;
pub use msg::Msg;
pub use run::Run;
pub use state::{Focus, Loading, State};
pub use update::update;

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    /// Names that must not be reachable from the core.
    const FORBIDDEN: &[&str] =
        &["tokio", "crossterm", "std::fs", "std::process", "std::thread", "std::env", "Instant::now", "SystemTime"];

    #[test]
    fn the_core_touches_nothing() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tui/app");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let is_of_tests = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy();
            path.is_dir() || name.ends_with("_tests.rs") || name == "fixture.rs"
        };
        let sources: Vec<PathBuf> = files.filter(|path| !is_of_tests(path)).collect();
        assert!(sources.len() > 30, "{sources:?}");
        for path in sources {
            let text = std::fs::read_to_string(&path).unwrap();
            // This list names them.
            let text = text.split("const FORBIDDEN").next().unwrap();
            for word in FORBIDDEN {
                assert!(!text.contains(word), "{} mentions {word}", path.display());
            }
        }
    }
}
