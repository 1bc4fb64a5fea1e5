//! Options as flags of commands.

use clap::{ArgMatches, Command, FromArgMatches};

use super::{OptionSpec, Origin, Settings, of};

/// The flags of some groups as they were given. What they mean is found out by [`Flags::lay_over`].
#[derive(Clone, Debug, Default)]
pub struct Flags<const GROUPS: u16>(Vec<(&'static OptionSpec, String)>);

impl<const GROUPS: u16> Flags<GROUPS> {
    /// Takes the flags over; the error is a sentence.
    pub fn lay_over(&self, settings: &mut Settings) -> Result<(), String> {
        self.0.iter().try_for_each(|(option, text)| {
            let found = if text.is_empty() { "empty" } else { text };
            let wrong = |expected| format!("{} is {found}, expected {expected}", option.flag());
            option.set(settings, text).map_err(wrong)?;
            settings.came_from(option, Origin::Flag);
            Ok(())
        })
    }
}

impl<const GROUPS: u16> clap::Args for Flags<GROUPS> {
    fn augment_args(command: Command) -> Command {
        command.args(of(GROUPS).map(OptionSpec::arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const GROUPS: u16> FromArgMatches for Flags<GROUPS> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let texts = |option: &'static OptionSpec| -> Vec<String> {
            match option.value {
                "" => {
                    let given = matches.get_flag(option.name);
                    given.then(|| (option.name != "history").to_string()).into_iter().collect()
                }
                _ => matches.get_many(option.name).into_iter().flatten().cloned().collect(),
            }
        };
        Ok(Self(of(GROUPS).flat_map(|option| texts(option).into_iter().map(move |text| (option, text))).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        Self::from_arg_matches(matches).map(|flags| *self = flags)
    }
}
