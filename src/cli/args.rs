//! Arguments that several commands share, and how they meet the config file.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::failure::Failure;
use crate::backend::{Device, Dtype, LoadOptions, device};
use crate::config::Config;
use crate::engine::{DraftLength, GenerateOptions, MAX_CANDIDATES};
use crate::job::TestsChoice;
use crate::sampling::{Accept, Sampling};

/// Which models, on what.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Models")]
pub struct ModelArgs {
    /// Main model: a name from `bass-tui models`, or a folder in Hugging Face layout [default: built-in]
    #[arg(long, value_name = "NAME|DIR")]
    pub model: Option<String>,
    /// What proposes tokens that the main model then checks (faster, and just as good): a draft model by name or folder, or auto for
    /// the one that belongs to the main model; lookup in the prompt, in what was written and in --reference; sibling, in the
    /// other candidates; chain, all of these; or none [default: auto]
    #[arg(long, value_name = "NAME|DIR|lookup|sibling|chain|none|auto")]
    pub draft: Option<String>,
    /// Tokens that have to agree before a lookup copies what follows, 1 to 64 [default: 2]
    #[arg(long, value_name = "N", value_parser = at_most_64, hide_short_help = true)]
    pub lookup_match: Option<usize>,
    /// Most tokens that a lookup copies in a step, 1 to 64 [default: 16]
    #[arg(long, value_name = "K", value_parser = at_most_64, hide_short_help = true)]
    pub lookup_length: Option<usize>,
    /// Where to compute (cuda is not available in this version) [default: auto]
    #[arg(long, value_name = device::NAMES.as_str())]
    pub device: Option<String>,
    /// Storage of the weights: auto is as in the files; int8 and int4 take about a half and a third of the memory of bf16, and less time
    /// on large models, and change what is written a little [default: auto]
    #[arg(long, value_name = "auto|f32|bf16|int8|int4")]
    pub dtype: Option<String>,
    /// Worker threads; 0 is one per core [default: 0]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub threads: Option<usize>,
}

fn at_most_64(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (1..=64).contains(&number) => Ok(number),
        _ => Err("expected a number from 1 to 64".to_owned()),
    }
}

/// More threads than any machine has cores: a mistyped number.
const MAX_THREADS: usize = 1024;

impl ModelArgs {
    /// Device, weight storage and threads, from the flags, else from the config file.
    pub fn load_options(&self, config: &Config) -> Result<LoadOptions, Failure> {
        let device = self.device.as_deref().unwrap_or(&config.device);
        let device = Device::named(device).map_err(Failure::input)?;
        let name = self.dtype.as_deref().unwrap_or(&config.dtype);
        let dtype = Dtype::parse(name)
            .ok_or_else(|| Failure::input(format!("--dtype is {name}, expected auto, f32, bf16, int8 or int4")))?;
        let threads = self.threads.or(config.threads).unwrap_or(0);
        if threads > MAX_THREADS {
            return Err(Failure::input(format!("--threads is {threads}, expected 0 (one per core) to {MAX_THREADS}")));
        }
        Ok(LoadOptions { device, dtype, threads })
    }
}

/// How candidates are written.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Generation")]
pub struct GenerateArgs {
    /// Number of candidates, 1 to 64 [default: 8]
    #[arg(short = 'n', long = "candidates", value_name = "N", allow_negative_numbers = true)]
    pub n: Option<usize>,
    /// Most tokens of a candidate [default: 256]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub max_tokens: Option<usize>,
    /// How adventurous the candidates are; 0 is greedy, always the most probable token [default: 0.8]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub temperature: Option<f32>,
    /// Keep the most probable tokens that together have this probability [default: 0.95]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub top_p: Option<f32>,
    /// Keep the K most probable tokens [default: all]
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub top_k: Option<usize>,
    /// Drop tokens less probable than this share of the best one [default: off]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub min_p: Option<f32>,
    /// Above 1: make tokens that have occurred less probable [default: off]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub repetition_penalty: Option<f32>,
    /// The same seed gives the same candidates [default: 0]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Draft tokens per step: auto, the most tokens per millisecond by measured cost and success, 0 where drafting does not pay; bass,
    /// which grows and shrinks with success; table, the best length by number of candidates, measured once; or a
    /// number from 0 to 64 [default: auto]
    #[arg(long, value_name = "auto|bass|table|K", allow_negative_numbers = true)]
    pub draft_length: Option<String>,
    /// How drafts are accepted; with coupled the very same text comes out whatever the drafts [default: coupled]
    #[arg(long, value_name = "rejection|coupled")]
    pub accept: Option<String>,
    /// End a candidate at this text; may be given several times
    #[arg(long, value_name = "STR", value_parser = NonEmptyStringValueParser::new())]
    pub stop: Vec<String>,
    /// Do not end a candidate at the end of its function
    #[arg(long)]
    pub no_default_stops: bool,
    /// Time for all candidates, such as 2.5s or 800ms: what has finished by then counts [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = duration, allow_hyphen_values = true)]
    pub time_budget: Option<Duration>,
}

impl GenerateArgs {
    /// The options of a request, without its stop rules: flags before config file before defaults.
    pub fn options(&self, config: &Config) -> Result<GenerateOptions, Failure> {
        let base = GenerateOptions::default();
        let sampling = Sampling {
            temperature: self.temperature.unwrap_or(config.temperature),
            top_p: Some(self.top_p.unwrap_or(config.top_p)),
            top_k: self.top_k.or(config.top_k),
            min_p: self.min_p.or(config.min_p),
            repetition_penalty: self.repetition_penalty.or(config.repetition_penalty),
        };
        sampling.check().map_err(Failure::input)?;
        let n = self.n.unwrap_or(config.n);
        if !(1..=MAX_CANDIDATES).contains(&n) {
            return Err(Failure::input(format!("-n is {n}, expected 1 to {MAX_CANDIDATES} candidates")));
        }
        let max_tokens = self.max_tokens.unwrap_or(config.max_tokens);
        if max_tokens == 0 {
            return Err(Failure::input("--max-tokens is 0, expected at least 1"));
        }
        let accept = match self.accept.as_deref() {
            None => base.accept,
            Some(text) => accept_rule(text)
                .ok_or_else(|| Failure::input(format!("--accept is {text}, expected rejection or coupled")))?,
        };
        Ok(GenerateOptions {
            n,
            sampling,
            max_tokens,
            time_budget: self.time_budget,
            seed: self.seed.or(config.seed).unwrap_or(base.seed),
            draft_length: draft_length(self.draft_length.as_deref().unwrap_or(&config.draft_length))?,
            accept,
            ..base
        })
    }
}

fn draft_length(text: &str) -> Result<DraftLength, Failure> {
    length_policy(text).ok_or_else(|| {
        Failure::input(format!("--draft-length is {text}, expected auto, bass, table or a number from 0 to 64"))
    })
}

/// Reads `auto`, `bass`, `table` or a number from 0 to 64.
pub fn length_policy(text: &str) -> Option<DraftLength> {
    match text {
        "auto" => Some(DraftLength::Auto),
        "bass" => Some(DraftLength::Bass),
        "table" => Some(DraftLength::Table),
        number => number.parse().ok().filter(|k| *k <= 64).map(DraftLength::Fixed),
    }
}

/// Reads `rejection` or `coupled`.
pub fn accept_rule(text: &str) -> Option<Accept> {
    match text {
        "rejection" => Some(Accept::Rejection),
        "coupled" => Some(Accept::Coupled),
        _ => None,
    }
}

/// Reads the list `text` of the flag `flag`: what `read` makes of each part between commas.
pub fn list<T>(flag: &str, text: &str, expected: &str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::input(format!("{flag} is empty: give at least one, expected {expected}")));
    }
    let wrong = |part: &str| Failure::input(format!("{flag} has `{part}`, expected {expected}"));
    text.split(',').map(|part| read(part.trim()).ok_or_else(|| wrong(part.trim()))).collect()
}

/// Reads `--prompt-ids`.
pub fn token_ids(text: &str) -> Result<Vec<u32>, Failure> {
    list("--prompt-ids", text, "token ids such as 1,2,3", |id| id.parse().ok())
}

/// Which tests.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Tests")]
pub struct TestArgs {
    /// A tests file, auto for the >>> examples of the docstring, or none [default: the examples, if there are any]
    #[arg(long, value_name = "FILE|auto|none")]
    pub tests: Option<String>,
}

impl TestArgs {
    /// Which tests were asked for.
    pub fn choice(&self) -> TestsChoice {
        match self.tests.as_deref() {
            None => TestsChoice::IfAny,
            Some("auto") => TestsChoice::Auto,
            Some("none") => TestsChoice::None,
            Some(file) => TestsChoice::File(PathBuf::from(file)),
        }
    }
}

/// How tests are run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Tests")]
pub struct TrialArgs {
    /// Longest run of the tests on one candidate [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = timeout, allow_hyphen_values = true)]
    pub timeout: Option<Duration>,
    /// Run model-written code even where this system cannot keep it from your files and network: it can then do whatever
    /// you can. Without this such a system asks first, or refuses (`bass-tui doctor` tells which yours is)
    #[arg(long)]
    pub unprotected: bool,
}

/// A duration that something can happen in.
fn timeout(text: &str) -> Result<Duration, String> {
    match duration(text) {
        Ok(Duration::ZERO) => Err("expected more than 0, such as 10s".to_owned()),
        other => other,
    }
}

/// Reads `2.5s`, `800ms`, `1m` or plain seconds.
pub fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (number, unit) = match text.find(|c: char| c.is_ascii_alphabetic()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let scale = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" | "min" => 60.0,
        _ => return Err(format!("the unit {unit} is not known, expected ms, s or m")),
    };
    let seconds = number.trim().parse::<f64>().map_err(|_| "expected a time such as 2.5s or 800ms".to_owned())? * scale;
    Duration::try_from_secs_f64(seconds).map_err(|_| "expected a time of at least 0, such as 2.5s or 800ms".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(duration("2.5s"), Ok(Duration::from_millis(2500)));
        assert_eq!(duration("800ms"), Ok(Duration::from_millis(800)));
        assert_eq!(duration("3"), Ok(Duration::from_secs(3)));
        assert!(timeout("0s").is_err() && duration("0s").is_ok());
        assert!(duration("soon").is_err() && duration("-1s").is_err() && duration("1h").is_err());
    }

    #[test]
    fn draft_lengths_are_read() {
        assert_eq!(draft_length("4").unwrap(), DraftLength::Fixed(4));
        assert_eq!(draft_length("auto").unwrap(), DraftLength::Auto);
        assert!(draft_length("many").unwrap_err().message.contains("many"));
    }
}
