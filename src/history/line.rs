//! The lines of a run's file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::agreement::{Called, Said};
use crate::engine::GenerateOptions;
use crate::files::whole_path;
use crate::hash::hex;
use crate::job::Job;
use crate::source::{FinishReason, Prompt, SourceInfo};
use crate::trial::{Assurance, LeftOut, Status, Verdict};

/// Version of the format. A file with a higher one is not read.
pub const VERSION: u32 = 1;
/// Most bytes of a test's output in a line.
const MOST_OUTPUT: usize = 8 << 10;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Time since the start of the run in ms.
    #[serde(default)]
    pub ms: u64,
    /// The event.
    #[serde(flatten)]
    pub what: What,
}

/// Kinds of lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum What {
    /// The run began: the first line.
    Run(Box<Head>),
    /// A candidate ended.
    Finished {
        /// Its index.
        candidate: usize,
        /// Its text.
        text: String,
        /// Number of its tokens.
        #[serde(default)]
        tokens: usize,
        /// Mean log-probability of its tokens.
        #[serde(default)]
        mean_logprob: Option<f32>,
        /// Reason of its end.
        reason: FinishReason,
    },
    /// The user has made a candidate of another one.
    Edited {
        /// Its index.
        candidate: usize,
        /// The other one.
        of: usize,
        /// Its text.
        text: String,
    },
    /// Further candidates are written, behind all others.
    Round {
        /// Number of the round, from 2 on.
        number: usize,
        /// Index of the first one.
        first: usize,
        /// Number of them.
        n: usize,
        /// How many of them, the last ones, see what failed.
        #[serde(default)]
        told: usize,
    },
    /// A candidate cannot be written to its end.
    Broken {
        /// Its index.
        candidate: usize,
        /// The reason.
        why: String,
    },
    /// A candidate equals an earlier one.
    Duplicate {
        /// Its index.
        candidate: usize,
        /// The other one.
        of: usize,
    },
    /// A trial ended.
    Verdict(Box<Tested>),
    /// The candidates were called on the same inputs.
    Agreement(Box<Called>),
    /// The user has said which answers are right.
    Said(Box<Said>),
    /// The candidate picked so far.
    Pick {
        /// Its index.
        #[serde(default)]
        candidate: Option<usize>,
    },
    /// All candidates ended.
    Written {
        /// Their order, the best first.
        #[serde(default)]
        ranking: Vec<usize>,
        /// Tokens of all of them.
        #[serde(default)]
        tokens: usize,
        /// Tokens per second.
        #[serde(default)]
        tokens_per_second: Option<f64>,
    },
    /// The generation failed.
    Failed {
        /// The reason.
        why: String,
    },
    /// A candidate was taken.
    Taken(Taken),
    /// A candidate that was taken was taken back.
    Undone {
        /// File name of the copy of the earlier text.
        #[serde(default)]
        backup: Option<String>,
    },
    /// All candidates ended and all trials did.
    Ended {
        /// The order of the candidates, the best first.
        #[serde(default)]
        ranking: Vec<usize>,
        /// The picked one.
        #[serde(default)]
        picked: Option<usize>,
    },
}

/// The head of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Head {
    /// Version of the format.
    pub version: u32,
    /// Version of the program.
    pub program: String,
    /// The start in ms since 1970.
    pub at: u64,
    /// The file of the function, from the root.
    pub file: Option<PathBuf>,
    /// Name of the function.
    pub function: Option<String>,
    /// The line that it begins on, 1-based.
    pub line: Option<usize>,
    /// Name of the language.
    pub language: Option<String>,
    /// SHA-256 of the file's bytes, or of the text without a file.
    pub hash: String,
    /// The text that the candidates continue: the stub of a function in a file, else all of it.
    pub stub: String,
    /// The change that was wanted of the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wish: Option<String>,
    /// Name of the tests; empty without any.
    pub tests: String,
    /// Name of the main model.
    pub model: String,
    /// Name of the draft model.
    pub draft: String,
    /// The device.
    pub device: String,
    /// Storage type of the weights.
    pub dtype: String,
    /// Number of candidates.
    pub n: usize,
    /// Key of the randomness.
    pub seed: u64,
    /// All other settings of the generation.
    pub settings: BTreeMap<String, Value>,
}

/// The result of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tested {
    /// Index of the candidate.
    pub candidate: usize,
    /// The end of the trial; `None` if it could not be run.
    #[serde(default)]
    pub status: Option<Status>,
    /// Its line for the reader, or the reason why it could not be run.
    #[serde(default)]
    pub message: String,
    /// Name of the runner.
    #[serde(default)]
    pub runner: String,
    /// Suspicious uses in the code.
    #[serde(default)]
    pub marks: Vec<String>,
    /// The tests that decided, if others were tried before them.
    #[serde(default)]
    pub tests: Option<String>,
    /// The tests that do not count, whose words the message has.
    #[serde(default)]
    pub left_out: LeftOut,
    /// Wall time of the tests in ms.
    #[serde(default)]
    pub duration_ms: u64,
    /// Total time that the user waited, in ms.
    #[serde(default)]
    pub waited_ms: u32,
    /// Output of the code, its beginning.
    #[serde(default)]
    pub output: String,
}

/// A candidate that was taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Taken {
    /// Its index, if known.
    pub candidate: Option<usize>,
    /// The file that it was written to; `None` if the program was handed over instead.
    pub path: Option<PathBuf>,
    /// File name of the copy of the earlier text.
    pub backup: Option<String>,
    /// The change as a patch.
    pub diff: String,
}

impl Head {
    /// The head of a run that begins now.
    pub fn of(job: &Job, info: &SourceInfo, options: &GenerateOptions) -> Self {
        let (target, sampling) = (job.target(), &options.sampling);
        let number = |x: f32| json!(x.to_string().parse::<f64>().ok());
        let all = [
            ("temperature", number(sampling.temperature)),
            ("top_k", json!(sampling.top_k)),
            ("top_p", sampling.top_p.map_or(Value::Null, number)),
            ("min_p", sampling.min_p.map_or(Value::Null, number)),
            ("repetition_penalty", sampling.repetition_penalty.map_or(Value::Null, number)),
            ("max_tokens", json!(options.max_tokens)),
            ("draft_length", json!(options.draft_length.to_string())),
            ("accept", json!(options.accept.to_string())),
            ("stop", json!(options.stop.strings)),
            ("time_budget", json!(options.time_budget.map(|time| time.as_secs_f64()))),
        ];
        let settings = all.into_iter().filter(|(_, value)| !value.is_null() && *value != json!([]));
        Self {
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            at: super::now(),
            file: job.file().map(whole_path),
            function: target.map(|target| target.name.clone()),
            line: target.map(|target| target.line),
            language: job.language().map(|language| language.name().to_owned()),
            hash: hash_of(job),
            stub: job.editable().unwrap_or_default(),
            wish: job.wish().map(str::to_owned),
            tests: job.tests_label.clone(),
            model: info.model.clone(),
            draft: info.draft.clone(),
            device: info.device.clone(),
            dtype: info.dtype.clone(),
            n: options.n,
            seed: options.seed,
            settings: settings.map(|(name, value)| (name.to_owned(), value)).collect(),
        }
    }

    /// `stats.py:mean`, or `prompt` for text without a file.
    pub fn subject(&self) -> String {
        let file = self.file.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        match (file, self.function.clone()) {
            (Some(file), Some(function)) => format!("{file}:{function}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => "prompt".to_owned(),
        }
    }

    /// The run is of the function, or the text, of this job.
    pub fn is_of(&self, job: &Job) -> bool {
        match job.file() {
            Some(file) => {
                let function = job.target().map(|target| target.name.as_str());
                self.file.as_deref() == Some(whole_path(file).as_path()) && self.function.as_deref() == function
            }
            None => self.file.is_none() && !self.stub.is_empty() && job.editable().as_ref() == Some(&self.stub),
        }
    }
}

impl Tested {
    /// The record of a trial's end.
    pub fn of(candidate: usize, outcome: &Result<Verdict, String>) -> Self {
        let none = Self {
            candidate,
            status: None,
            message: String::new(),
            runner: String::new(),
            marks: Vec::new(),
            tests: None,
            left_out: LeftOut::default(),
            duration_ms: 0,
            waited_ms: 0,
            output: String::new(),
        };
        match outcome {
            Err(why) => Self { message: why.clone(), ..none },
            Ok(verdict) => Self {
                status: Some(verdict.status),
                message: verdict.message.clone(),
                runner: verdict.assurance.runner.clone(),
                marks: verdict.assurance.marks.clone(),
                tests: verdict.tests.clone(),
                left_out: verdict.assurance.left_out.clone(),
                duration_ms: verdict.duration_ms,
                waited_ms: verdict.waited_ms,
                output: beginning(&verdict.output),
                ..none
            },
        }
    }

    /// The result as a run tells it.
    pub fn outcome(&self) -> Result<Verdict, String> {
        let status = self.status.ok_or_else(|| self.message.clone())?;
        let (runner, marks, left_out) = (self.runner.clone(), self.marks.clone(), self.left_out.clone());
        let assurance = Box::new(Assurance { runner, marks, left_out, checks: Vec::new() });
        Ok(Verdict {
            status,
            message: self.message.clone(),
            duration_ms: self.duration_ms,
            waited_ms: self.waited_ms,
            output: self.output.clone(),
            assurance,
            tests: self.tests.clone(),
            ..Verdict::not_run("")
        })
    }
}

/// SHA-256 of the file that a job was made of, or of its text.
pub fn hash_of(job: &Job) -> String {
    let bytes = match (job.target(), job.prompt()) {
        (Some(target), _) => target.original.clone(),
        (None, Prompt::Text(text) | Prompt::Written(text)) => text.into_text().into_bytes(),
        (None, Prompt::Ids(ids)) => ids.iter().flat_map(|id| id.to_le_bytes()).collect(),
    };
    hex(&Sha256::digest(&bytes))
}

fn beginning(text: &str) -> String {
    if text.len() <= MOST_OUTPUT {
        return text.to_owned();
    }
    let end = (0..=MOST_OUTPUT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\n…", &text[..end])
}
