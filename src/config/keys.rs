//! The settings as a table: name, what it can be, what it does.

use std::time::Duration;

use toml::Value;

use super::Config;
use crate::backend::device::NAMES;

/// A setting.
pub(super) struct Key {
    /// Its name in the file.
    pub name: &'static str,
    /// What it does, as a sentence.
    pub help: &'static str,
    /// What it can be, to follow "expected is".
    pub expected: &'static str,
    /// The line that says its default; commented out, where there is no value for it.
    pub default: &'static str,
    /// Takes a value over; `None` if it is none of the expected ones.
    pub set: fn(&mut Config, &Value) -> Option<()>,
}

/// All settings, in the order they are shown in.
pub(super) static KEYS: &[Key] = &[
    Key {
        name: "model",
        help: "The main model; without it, the built-in one.",
        expected: "a name from `bass-tui models` or a folder",
        default: "# model is unset",
        set: |c, v| text(v).map(|t| c.model = Some(t)),
    },
    Key {
        name: "draft",
        help: "What proposes tokens for the main model to check.",
        expected: "`auto`, `none`, `lookup`, `sibling`, `chain`, a model's name or a folder",
        default: "draft = \"auto\"",
        set: |c, v| text(v).map(|t| c.draft = t),
    },
    Key {
        name: "lookup_match",
        help: "Tokens that have to agree before a lookup copies what follows; without it, 2.",
        expected: "a whole number from 1 to 64",
        default: "# lookup_match is unset",
        set: |c, v| whole(v, 1, 64).map(|n| c.lookup_match = Some(n)),
    },
    Key {
        name: "lookup_length",
        help: "Most tokens that a lookup copies in a step; without it, 16.",
        expected: "a whole number from 1 to 64",
        default: "# lookup_length is unset",
        set: |c, v| whole(v, 1, 64).map(|n| c.lookup_length = Some(n)),
    },
    Key {
        name: "n",
        help: "Candidates per prompt.",
        expected: "a whole number from 1 to 64",
        default: "n = 8",
        set: |c, v| whole(v, 1, 64).map(|n| c.n = n),
    },
    Key {
        name: "max_tokens",
        help: "Most tokens of a candidate.",
        expected: "a whole number from 1 to 1000000",
        default: "max_tokens = 256",
        set: |c, v| whole(v, 1, 1_000_000).map(|n| c.max_tokens = n),
    },
    Key {
        name: "temperature",
        help: "How freely is drawn; 0 always takes the most probable token.",
        expected: "a number from 0 to 100",
        default: "temperature = 0.8",
        set: |c, v| number(v, 0.0, 100.0).map(|x| c.temperature = x),
    },
    Key {
        name: "top_p",
        help: "Draw from the smallest set of most probable tokens with this mass; 1 is all.",
        expected: "a number above 0, up to 1",
        default: "top_p = 0.95",
        set: |c, v| number(v, f32::MIN_POSITIVE, 1.0).map(|x| c.top_p = x),
    },
    Key {
        name: "top_k",
        help: "Draw from this many most probable tokens; without it, from all.",
        expected: "a whole number from 1 to 1000000",
        default: "# top_k is unset",
        set: |c, v| whole(v, 1, 1_000_000).map(|n| c.top_k = Some(n)),
    },
    Key {
        name: "min_p",
        help: "Leave out tokens less probable than this share of the best one; without it, none.",
        expected: "a number from 0 to 1",
        default: "# min_p is unset",
        set: |c, v| number(v, 0.0, 1.0).map(|x| c.min_p = Some(x)),
    },
    Key {
        name: "repetition_penalty",
        help: "Makes tokens that have occurred less probable; without it, or with 1, not.",
        expected: "a number above 0, up to 100",
        default: "# repetition_penalty is unset",
        set: |c, v| number(v, f32::MIN_POSITIVE, 100.0).map(|x| c.repetition_penalty = Some(x)),
    },
    Key {
        name: "seed",
        help: "The same seed gives the same candidates; without it, the seed is 0.",
        expected: "a whole number from 0",
        default: "# seed is unset",
        set: |c, v| v.as_integer().and_then(|i| u64::try_from(i).ok()).map(|s| c.seed = Some(s)),
    },
    Key {
        name: "device",
        help: "Where to compute; `auto` is the best device of this machine.",
        expected: "`auto` or a device that `bass-tui doctor` names",
        default: "device = \"auto\"",
        set: |c, v| one_of(v, &NAMES.split('|').collect::<Vec<_>>()).map(|t| c.device = t),
    },
    Key {
        name: "threads",
        help: "Worker threads; without it, one per core.",
        expected: "a whole number from 1 to 1024",
        default: "# threads is unset",
        set: |c, v| whole(v, 1, 1024).map(|n| c.threads = Some(n)),
    },
    Key {
        name: "dtype",
        help: "Storage type of the weights; `auto` is the one they come in.",
        expected: "`auto`, `f32`, `bf16`, `int8` or `int4`",
        default: "dtype = \"auto\"",
        set: |c, v| one_of(v, &["auto", "f32", "bf16", "int8", "int4"]).map(|t| c.dtype = t),
    },
    Key {
        name: "draft_length",
        help: "Tokens proposed per step.",
        expected: "`auto`, `bass`, `table` or a whole number from 0 to 64",
        default: "draft_length = \"auto\"",
        set: |c, v| {
            let length = one_of(v, &["auto", "bass", "table"]).or_else(|| whole(v, 0, 64).map(|k| k.to_string()));
            length.map(|l| c.draft_length = l)
        },
    },
    Key {
        name: "theme",
        help: "Colours; `auto` asks the terminal whether it is light or dark.",
        expected: "`auto`, `light`, `dark` or the name of a file in the folder `themes`",
        default: "theme = \"auto\"",
        set: |c, v| text(v).map(|t| c.theme = t),
    },
    Key {
        name: "test_timeout",
        help: "Longest run of the tests on one candidate, in seconds.",
        expected: "a number of seconds above 0, up to 86400",
        default: "test_timeout = 10",
        set: |c, v| number(v, 0.001, 86400.0).map(|x| c.test_timeout = Duration::from_secs_f32(x)),
    },
    Key {
        name: "stop_on_pass",
        help: "Whether, on the screen, the first candidate that passes ends the writing of all others.",
        expected: "true or false",
        default: "stop_on_pass = false",
        set: |c, v| v.as_bool().map(|b| c.stop_on_pass = b),
    },
];

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|t| !t.trim().is_empty()).map(ToOwned::to_owned)
}

fn one_of(value: &Value, choices: &[&str]) -> Option<String> {
    text(value).filter(|t| choices.contains(&t.as_str()))
}

fn whole(value: &Value, least: usize, most: usize) -> Option<usize> {
    value.as_integer().and_then(|i| usize::try_from(i).ok()).filter(|n| (least..=most).contains(n))
}

fn number(value: &Value, least: f32, most: f32) -> Option<f32> {
    let number = value.as_float().or_else(|| value.as_integer().map(|i| i as f64))? as f32;
    (least..=most).contains(&number).then_some(number)
}
