//! Options in messages of other rooms, by the name and the key that they have on the screen.

use super::state::State;
use crate::tui::keymap::{Action, Context};

/// The option that other rooms name as a flag: the screen has a setting of this name.
const FLAG: &str = "--max-tokens";

/// The setting of the token limit with the key of the settings: `max-tokens (key ,)`.
pub fn token_limit(state: &State) -> String {
    format!("max-tokens (key {})", state.key_name(Context::Panes, Action::Settings))
}

/// Words in which a flag would lead out of the screen, with its setting in their place.
pub fn in_settings(state: &State, words: &str) -> String {
    if words.contains(FLAG) { words.replace(FLAG, &token_limit(state)) } else { words.to_owned() }
}

#[cfg(test)]
mod tests {
    use crate::trial::Status;
    use crate::tui::app::Testing;
    use crate::tui::app::fixture::Session;

    #[test]
    fn a_limit_is_raised_where_the_screen_has_it() {
        let mut session = Session::tested(2);
        session.key("g");
        session.finish(0, "    return 1\n");
        session.verdict(0, Status::NotRun, "cut at its token limit: raise --max-tokens");
        let Testing::Done(verdict) = session.run().testing(0) else { panic!("it has a verdict") };
        assert_eq!(verdict.message, "cut at its token limit: raise max-tokens (key ,)");
    }
}
