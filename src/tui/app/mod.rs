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
    /// Names that must not be reachable from the core.
    const FORBIDDEN: &[&str] =
        &["tokio", "crossterm", "std::fs", "std::process", "std::thread", "std::env", "Instant::now", "SystemTime"];

    #[test]
    fn the_core_touches_nothing() {
        let sources = [
            ("action.rs", include_str!("action.rs")),
            ("alike.rs", include_str!("alike.rs")),
            ("answer.rs", include_str!("answer.rs")),
            ("blocks.rs", include_str!("blocks.rs")),
            ("calls.rs", include_str!("calls.rs")),
            ("candidate.rs", include_str!("candidate.rs")),
            ("choices.rs", include_str!("choices.rs")),
            ("closest.rs", include_str!("closest.rs")),
            ("compare.rs", include_str!("compare.rs")),
            ("diff.rs", include_str!("diff.rs")),
            ("draft.rs", include_str!("draft.rs")),
            ("effect.rs", include_str!("effect.rs")),
            ("example.rs", include_str!("example.rs")),
            ("find.rs", include_str!("find.rs")),
            ("groups.rs", include_str!("groups.rs")),
            ("help.rs", include_str!("help.rs")),
            ("matrix.rs", include_str!("matrix.rs")),
            ("mouse.rs", include_str!("mouse.rs")),
            ("moving.rs", include_str!("moving.rs")),
            ("msg.rs", include_str!("msg.rs")),
            ("named.rs", include_str!("named.rs")),
            ("palette.rs", include_str!("palette.rs")),
            ("past.rs", include_str!("past.rs")),
            ("picker.rs", include_str!("picker.rs")),
            ("progress.rs", include_str!("progress.rs")),
            ("refusal.rs", include_str!("refusal.rs")),
            ("run.rs", include_str!("run.rs")),
            ("state.rs", include_str!("state.rs")),
            ("stream.rs", include_str!("stream.rs")),
            ("taking.rs", include_str!("taking.rs")),
            ("testing.rs", include_str!("testing.rs")),
            ("tokens.rs", include_str!("tokens.rs")),
            ("update.rs", include_str!("update.rs")),
            ("values.rs", include_str!("values.rs")),
            ("watch.rs", include_str!("watch.rs")),
            ("wish.rs", include_str!("wish.rs")),
            ("writing.rs", include_str!("writing.rs")),
            ("written.rs", include_str!("written.rs")),
        ];
        let declared = include_str!("mod.rs").lines().filter(|l| l.starts_with("pub mod ")).count();
        assert_eq!(
            declared,
            sources.len() + 1,
            "a new file of the core belongs into this test (only the test fixture is left out)"
        );
        for (name, text) in sources {
            for word in FORBIDDEN {
                assert!(!text.contains(word), "{name} mentions {word}");
            }
        }
    }
}
