//! Arguments that several commands share, and how they meet the config file.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::failure::Failure;
use crate::backend::{Dtype, LoadOptions};
use crate::config::Config;
use crate::engine::{DraftLength, GenerateOptions};
use crate::job::TestsChoice;
use crate::sampling::{Accept, Sampling};

/// Which models, on what.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Models")]
pub struct ModelArgs {
    /// Main model: a name from `bass-tui models`, or a folder in Hugging Face layout
    #[arg(long, value_name = "NAME|DIR")]
    pub model: Option<String>,
    /// Draft model: a name, a folder, `none` for plain decoding, or `auto` for the one that belongs to the main model
    #[arg(long, value_name = "NAME|DIR|none|auto")]
    pub draft: Option<String>,
    /// Where to compute: auto or cpu
    #[arg(long, value_name = "DEVICE")]
    pub device: Option<String>,
    /// Storage of the weights: auto (as in the files), f32 or bf16
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// Worker threads; 0 takes one per core
    #[arg(long, value_name = "T")]
    pub threads: Option<usize>,
}

impl ModelArgs {
    /// Weight storage and threads, from the flags, else from the config file.
    pub fn load_options(&self, config: &Config) -> Result<LoadOptions, Failure> {
        match self.device.as_deref() {
            None | Some("auto" | "cpu") => {}
            Some("cuda") => {
                return Err(Failure::input("--device cuda is not available in this version: use --device cpu"));
            }
            Some(other) => return Err(Failure::input(format!("--device is {other}, expected auto or cpu"))),
        }
        let dtype = match self.dtype.as_deref().unwrap_or(&config.dtype) {
            "auto" => Dtype::Auto,
            "f32" => Dtype::F32,
            "bf16" => Dtype::Bf16,
            other @ ("int8" | "int4") => {
                return Err(Failure::input(format!("--dtype {other} is not available in this version: use bf16")));
            }
            other => return Err(Failure::input(format!("--dtype is {other}, expected auto, f32 or bf16"))),
        };
        Ok(LoadOptions { dtype, threads: self.threads.or(config.threads).unwrap_or(0) })
    }
}

/// How candidates are written.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Generation")]
pub struct GenerateArgs {
    /// Number of candidates, 1 to 64
    #[arg(short = 'n', long = "candidates", value_name = "N")]
    pub n: Option<usize>,
    /// Most tokens of a candidate
    #[arg(long, value_name = "T")]
    pub max_tokens: Option<usize>,
    /// 0 is greedy: always the most probable token
    #[arg(long, value_name = "X")]
    pub temperature: Option<f32>,
    /// Keep the most probable tokens that together have this probability
    #[arg(long, value_name = "X")]
    pub top_p: Option<f32>,
    /// Keep the K most probable tokens
    #[arg(long, value_name = "K")]
    pub top_k: Option<usize>,
    /// Drop tokens less probable than this share of the best one
    #[arg(long, value_name = "X")]
    pub min_p: Option<f32>,
    /// Above 1: make tokens that have occurred less probable
    #[arg(long, value_name = "X")]
    pub repetition_penalty: Option<f32>,
    /// Seed of all randomness: the same seed gives the same candidates
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// Draft tokens per step: a number, `bass` (grows and shrinks with success) or `auto`
    #[arg(long, value_name = "auto|bass|K")]
    pub draft_length: Option<String>,
    /// Acceptance rule: `rejection`, or `coupled` (the output does not depend on the drafts)
    #[arg(long, value_name = "RULE")]
    pub accept: Option<String>,
    /// End a candidate at this text; may be given several times
    #[arg(long, value_name = "STR")]
    pub stop: Vec<String>,
    /// Do not end a candidate at the end of its function
    #[arg(long)]
    pub no_default_stops: bool,
    /// Wall-clock limit such as 2.5s or 800ms: what has finished by then counts
    #[arg(long, value_name = "TIME", value_parser = duration)]
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
        let accept = match self.accept.as_deref() {
            None | Some("rejection") => Accept::Rejection,
            Some("coupled") => Accept::Coupled,
            Some(other) => {
                return Err(Failure::input(format!("--accept is {other}, expected rejection or coupled")));
            }
        };
        Ok(GenerateOptions {
            n: self.n.unwrap_or(config.n),
            sampling,
            max_tokens: self.max_tokens.unwrap_or(config.max_tokens),
            time_budget: self.time_budget,
            seed: self.seed.or(config.seed).unwrap_or(base.seed),
            draft_length: draft_length(self.draft_length.as_deref().unwrap_or(&config.draft_length))?,
            accept,
            ..base
        })
    }
}

fn draft_length(text: &str) -> Result<DraftLength, Failure> {
    match text {
        "auto" | "bass" => Ok(DraftLength::Bass),
        "table" => {
            Err(Failure::input("--draft-length table is not available in this version: use auto, bass or a number"))
        }
        text => match text.parse() {
            Ok(k) if k <= 64 => Ok(DraftLength::Fixed(k)),
            _ => Err(Failure::input(format!("--draft-length is {text}, expected auto, bass or a number from 0 to 64"))),
        },
    }
}

/// Tests and the trials that run them.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Tests")]
pub struct TestArgs {
    /// A tests file, `auto` for the >>> examples of the docstring, or `none`. Without it: the examples, if there are any
    #[arg(long, value_name = "FILE|auto|none")]
    pub tests: Option<String>,
    /// Wall-clock limit of one trial
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
    /// Run candidates even where this system offers no protection from them
    #[arg(long)]
    pub unprotected: bool,
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
        assert!(duration("soon").is_err() && duration("-1s").is_err() && duration("1h").is_err());
    }

    #[test]
    fn draft_lengths_are_read() {
        assert_eq!(draft_length("4").unwrap(), DraftLength::Fixed(4));
        assert_eq!(draft_length("auto").unwrap(), DraftLength::Bass);
        assert!(draft_length("many").unwrap_err().message.contains("many"));
    }
}
