//! Every option once: flag, setting of the config file, name in results files, help, parser and value. To add
//! one: a field of [`Settings`], or of what it holds, and an entry of [`ALL`].

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use serde_json::{Value, json};
use similar::get_close_matches;

use crate::backend::{Choice, Dtype, LoadOptions};
use crate::engine::{DraftVocabulary, GenerateOptions, MAX_CANDIDATES};
use crate::model::ChatUse;
use crate::prompt;
use crate::trial::Limits;

/// All settings: the defaults, with the config file and then the flags laid over them.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is a setting of its own
pub struct Settings {
    /// Main model: a name of the catalog or a folder; `None` is the built-in one.
    pub model: Option<String>,
    /// Address of a server that writes candidates instead of the models of this machine.
    pub server: Option<String>,
    /// Its model; `None` where it has but one.
    pub server_model: Option<String>,
    /// The server is sent the text after the place.
    pub server_suffix: bool,
    /// Drafter: a draft model's name or folder, `auto`, `none`, `lookup`, `sibling` or `chain`.
    pub draft: String,
    /// Tokens that a draft model proposes.
    pub draft_vocabulary: DraftVocabulary,
    /// Weight storage of a draft model or head.
    pub draft_dtype: Dtype,
    /// The main model is shown requests as conversations; `None`: as catalog and name say.
    pub chat: Option<ChatUse>,
    /// Tokens that have to agree before a lookup copies; `None` is the drafter's own choice.
    pub lookup_match: Option<usize>,
    /// Most tokens that a lookup copies in a step; `None` is the drafter's own choice.
    pub lookup_length: Option<usize>,
    /// Where and how models are loaded.
    pub load: LoadOptions,
    /// How candidates are written; of its stop rules only the strings are set.
    pub generate: GenerateOptions,
    /// Options for prompts.
    pub prompt: prompt::Options,
    /// A candidate goes on after the end of its function.
    pub no_default_stops: bool,
    /// Limits of a trial.
    pub limits: Limits,
    /// The Python that code is run with; `None` leaves it to the project.
    pub python: Option<PathBuf>,
    /// The tests of functions where no `--tests` says which; empty: those that are found.
    pub tests: Vec<String>,
    /// Candidates are called on the same inputs and compared; `None`: where that can be done.
    pub agree: Option<bool>,
    /// Most rounds of candidates while all fail their tests.
    pub rounds: usize,
    /// On the screen, the first pass ends what is still being written.
    pub stop_on_pass: bool,
    /// The screen follows the editor.
    pub watch: bool,
    /// Runs are kept, to be looked at later.
    pub history: bool,
    /// MiB for prompts that the screen keeps for the next request; `None` leaves it to the machine.
    pub kv_cache: Option<usize>,
    /// Lines and a question in place of the screen.
    pub plain: bool,
    /// Colours: `auto`, `light`, `dark` or the name of a theme.
    pub theme: String,
    /// Keys by action, as written in the config file: `quit = ["q", "ctrl-d"]`; an empty list unbinds.
    pub keys: BTreeMap<String, Vec<String>>,
    /// Where values came from that are no defaults, by option. Lists can come from several places.
    pub origins: BTreeMap<&'static str, Vec<Origin>>,
    /// Where keys came from, by action.
    pub key_origins: BTreeMap<String, Origin>,
}

/// Where the value of a setting came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of settings, and the line.
    File(PathBuf, usize),
    /// The command line.
    Flag,
}

impl Origin {
    /// It is this file.
    pub fn is_in(&self, path: &Path) -> bool {
        matches!(self, Self::File(file, _) if file == path)
    }
}

impl Settings {
    /// The tests that were named: those `given` with a command, else those of the settings.
    pub fn tests_or<'a>(&'a self, given: &'a [String]) -> &'a [String] {
        if given.is_empty() { &self.tests } else { given }
    }

    /// Returns true if candidates are called on the same inputs where that can be done.
    pub fn compares(&self) -> bool {
        self.agree != Some(false)
    }

    /// Notes where the value of an option came from.
    pub fn came_from(&mut self, option: &OptionSpec, origin: Origin) {
        let origins = self.origins.entry(option.name).or_default();
        if !option.is_list() {
            origins.clear();
        }
        if !origins.contains(&origin) {
            origins.push(origin);
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: None,
            server: None,
            server_model: None,
            server_suffix: false,
            draft: "auto".to_owned(),
            draft_vocabulary: DraftVocabulary::Auto,
            draft_dtype: Dtype::Auto,
            chat: None,
            lookup_match: None,
            lookup_length: None,
            load: LoadOptions::default(),
            generate: GenerateOptions::default(),
            prompt: prompt::Options::default(),
            no_default_stops: false,
            limits: Limits::default(),
            python: None,
            tests: Vec::new(),
            agree: None,
            rounds: 2,
            stop_on_pass: false,
            watch: false,
            history: true,
            kv_cache: None,
            plain: false,
            theme: "auto".to_owned(),
            keys: BTreeMap::new(),
            origins: BTreeMap::new(),
            key_origins: BTreeMap::new(),
        }
    }
}

/// Most rounds of candidates, the first included.
pub const MOST_ROUNDS: usize = 3;

/// Options that a command takes together; a set of them is a sum.
pub const MODELS: u16 = 1;
/// How many candidates, how long, from which drafts.
pub const GENERATION: u16 = 2;
/// How tokens are drawn.
pub const SAMPLING: u16 = 4;
/// How tests are run.
pub const TESTS: u16 = 8;
/// Options of the screen only.
pub const SCREEN: u16 = 16;

/// Text of a file that the model is shown; problem sets bring their own prompts.
pub const PROMPTS: u16 = 32;
/// Which server writes, for those commands that can do without models of this machine.
pub const SERVER: u16 = 64;

/// Options about kept runs, for commands that make runs for a person.
pub const HISTORY: u16 = 256;

/// How candidates are compared, for commands that show them beside each other.
pub const COMPARING: u16 = 512;

/// Statements of a project about itself; no flag, as commands have one of this name that takes more.
const PROJECT: u16 = 128;

/// Groups that the file of a project may set.
const OF_PROJECTS: u16 = TESTS | PROMPTS | PROJECT | COMPARING;

/// An option.
#[derive(Debug)]
pub struct OptionSpec {
    /// As a flag and in results files; in the config file with `_` for `-`.
    pub name: &'static str,
    /// Which commands take it.
    group: u16,
    /// Placeholder for its value in the help; a switch has none.
    value: &'static str,
    /// Possible values, to follow "expected"; empty where `value` says it.
    expected: &'static str,
    /// Its effect; and its default, where that is no value.
    help: &'static str,
    read: fn(&mut Settings, &str) -> Option<()>,
    show: fn(&Settings) -> Value,
}

/// All options, in the order of the help.
pub static ALL: &[OptionSpec] = &[
    OptionSpec {
        name: "model",
        group: MODELS,
        value: "NAME|DIR|GGUF",
        expected: "a name from `bass-tui models`, a folder or a GGUF file",
        help: "Main model: a name from `bass-tui models`, a folder in Hugging Face layout, or a GGUF file [default: built-in]",
        read: |s, t| text(t).map(|t| s.model = Some(t)),
        show: |s| json!(s.model),
    },
    OptionSpec {
        name: "server",
        group: SERVER,
        value: "URL",
        expected: "the address of a server, such as http://127.0.0.1:8000",
        help: "Have candidates written by a server that speaks OpenAI's protocol (vLLM, SGLang, llama-server, Ollama, LM Studio), \
               not by a model of this machine: the prompt is sent there. Its key, if it wants one, is in BASS_TUI_SERVER_KEY, or \
               by address in server-keys.toml in the config folder (mode 600)",
        read: |s, t| text(t).map(|t| s.server = Some(t)),
        show: |s| json!(s.server),
    },
    OptionSpec {
        name: "server-model",
        group: SERVER,
        value: "NAME",
        expected: "the name of a model of the server",
        help: "Which model of the server [default: the only one]",
        read: |s, t| text(t).map(|t| s.server_model = Some(t)),
        show: |s| json!(s.server_model),
    },
    OptionSpec {
        name: "server-suffix",
        group: SERVER,
        value: "yes|no",
        expected: "",
        help: "Send the server what stands after the function, as `suffix` of a completion, for a model that fills in",
        read: |s, t| {
            s.server_suffix = yes_or_no(t)?;
            Some(())
        },
        show: |s| json!(if s.server_suffix { "yes" } else { "no" }),
    },
    OptionSpec {
        name: "draft",
        group: MODELS,
        value: "NAME|DIR|GGUF|lookup|sibling|chain|none|auto",
        expected: "a name from `bass-tui models`, a folder, a GGUF file, lookup, sibling, chain, none or auto",
        help: "What proposes tokens that the main model then checks (faster, and just as good): auto or chain, lookups where text \
               repeats and the main model's own layer for it (MTP) or the draft model that belongs to it; a draft model by name, \
               folder or file, or the folder of a draft head (EAGLE-3, DFlash), in the place of that one; lookup, in the prompt, \
               in what was written and in --reference; sibling, in the other candidates; or none",
        read: |s, t| text(t).map(|t| s.draft = t),
        show: |s| json!(s.draft),
    },
    OptionSpec {
        name: "draft-vocabulary",
        group: MODELS,
        value: "auto|all|K",
        expected: "auto, all or a number from 1",
        help: "Tokens that a draft model proposes: the first K of its vocabulary, which are the frequent ones, and those of prompt \
               and candidates; auto, 16384 of a large vocabulary; all. On a GPU always all. The text is the same",
        read: |s, t| parsed(t).map(|tokens| s.draft_vocabulary = tokens),
        show: |s| json!(s.draft_vocabulary.to_string()),
    },
    OptionSpec {
        name: "draft-dtype",
        group: MODELS,
        value: "auto|f32|bf16|int8|int4",
        expected: "",
        help: "Storage of the weights of a draft model or head: auto is int4 for a large one of more than five bits on the CPU, else \
               as --dtype. Only the time depends on it",
        read: |s, t| parsed(t).map(|dtype| s.draft_dtype = dtype),
        show: |s| json!(s.draft_dtype.to_string()),
    },
    OptionSpec {
        name: "chat",
        group: MODELS,
        value: "auto|yes|no|free",
        expected: "",
        help: "Ask the main model for the function, through its chat template, and take it out of the answer; auto: where its name \
               says instruct, chat or it, or is Qwen3; free: it writes its answer from the start, where yes begins it with the \
               function's head",
        read: |s, t| {
            s.chat = match t.trim() {
                "free" => Some(ChatUse::Free),
                t if is_auto(t) => None,
                t => Some(yes_or_no(t)?.into()),
            };
            Some(())
        },
        show: |s| {
            json!(s.chat.map_or("auto", |chat| match chat {
                ChatUse::No => "no",
                ChatUse::Yes => "yes",
                ChatUse::Free => "free",
            }))
        },
    },
    OptionSpec {
        name: "lookup-match",
        group: MODELS,
        value: "N",
        expected: "a number from 1 to 64",
        help: "Tokens that have to agree before a lookup copies what follows, 1 to 64 [default: 2]",
        read: |s, t| within(t, 1..=64).map(|n| s.lookup_match = Some(n)),
        show: |s| json!(s.lookup_match),
    },
    OptionSpec {
        name: "lookup-length",
        group: MODELS,
        value: "K",
        expected: "a number from 1 to 64",
        help: "Most tokens that a lookup copies in a step, 1 to 64 [default: 16]",
        read: |s, t| within(t, 1..=64).map(|n| s.lookup_length = Some(n)),
        show: |s| json!(s.lookup_length),
    },
    OptionSpec {
        name: "device",
        group: MODELS,
        value: "auto|cpu|cuda",
        expected: "",
        help: "Where to compute; cuda:N is GPU number N, from 0 on; auto: a GPU where there is one that has room for the models",
        read: |s, t| Choice::named(t).map(|device| s.load.device = device),
        show: |s| json!(s.load.device.map_or("auto".to_owned(), |choice| choice.to_string())),
    },
    OptionSpec {
        name: "dtype",
        group: MODELS,
        value: "auto|f32|bf16|int8|int4",
        expected: "",
        help: "Storage of the weights: auto is as in the files; int8 and int4 take about a half and a third of the memory of bf16, \
               and less time on large models, and change what is written a little",
        read: |s, t| parsed(t).map(|dtype| s.load.dtype = dtype),
        show: |s| json!(s.load.dtype.to_string()),
    },
    OptionSpec {
        name: "threads",
        group: MODELS,
        value: "T",
        // More than any machine has cores: a mistyped number.
        expected: "0 (one per core) to 1024",
        help: "Worker threads; 0 is one per core",
        read: |s, t| within(t, 0..=1024).map(|n| s.load.threads = n),
        show: |s| json!(s.load.threads),
    },
    OptionSpec {
        name: "no-cuda-graphs",
        group: MODELS,
        value: "",
        expected: "true or false",
        help: "Launch the kernels of a GPU one by one instead of as graphs: slower, for finding faults",
        read: |s, t| parsed(t).map(|on| s.load.eager = on),
        show: |s| json!(s.load.eager),
    },
    OptionSpec {
        name: "n",
        group: GENERATION,
        value: "N",
        expected: "1 to 64 candidates",
        help: "Number of candidates, 1 to 64",
        read: |s, t| within(t, 1..=MAX_CANDIDATES).map(|n| s.generate.n = n),
        show: |s| json!(s.generate.n),
    },
    OptionSpec {
        name: "max-tokens",
        group: GENERATION,
        value: "T",
        expected: "a number from 1",
        help: "Most tokens of a candidate",
        read: |s, t| within(t, 1..=usize::MAX).map(|n| s.generate.max_tokens = n),
        show: |s| json!(s.generate.max_tokens),
    },
    OptionSpec {
        name: "prompt-tokens",
        group: PROMPTS,
        value: "N|auto",
        expected: "auto or a number from 1",
        help: "Most tokens of the prompt for a function of a file: what it names, the file around it, what is imported from the \
               project, in order of worth; auto is what suits the size of the model",
        read: |s, t| {
            s.prompt.tokens = if is_auto(t) { None } else { Some(within(t, 1..=usize::MAX)?) };
            Some(())
        },
        show: |s| s.prompt.tokens.map_or(json!("auto"), |n| json!(n)),
    },
    OptionSpec {
        name: "show-tests",
        group: PROMPTS,
        value: "auto|yes|no",
        expected: "",
        help: "Show the model the tests that judge it; auto: where --tests names their file and the model is not small",
        read: |s, t| {
            s.prompt.tests = if is_auto(t) { None } else { Some(yes_or_no(t)?) };
            Some(())
        },
        show: |s| json!(s.prompt.tests.map_or("auto", |shown| if shown { "yes" } else { "no" })),
    },
    OptionSpec {
        name: "infill",
        group: PROMPTS,
        value: "auto|no",
        expected: "",
        help: "Show models with tokens for it (Qwen2.5-Coder, StarCoder, CodeLlama, DeepSeek-Coder, CodeGemma, Granite) what stands \
               after the function",
        read: |s, t| {
            s.prompt.infill = is_auto(t) || yes_or_no(t)?;
            Some(())
        },
        show: |s| json!(if s.prompt.infill { "auto" } else { "no" }),
    },
    OptionSpec {
        name: "temperature",
        group: SAMPLING,
        value: "X",
        expected: "0 (greedy) or a positive number",
        help: "How much candidates differ from the most probable text; 0 is greedy, always the most probable token",
        read: |s, t| within(t, 0.0..=f32::MAX).map(|x| s.generate.sampling.temperature = x),
        show: |s| number(s.generate.sampling.temperature),
    },
    OptionSpec {
        name: "top-p",
        group: SAMPLING,
        value: "X",
        expected: "a number above 0, up to 1",
        help: "Keep the most probable tokens that together have this probability",
        read: |s, t| within(t, f32::MIN_POSITIVE..=1.0).map(|x| s.generate.sampling.top_p = Some(x)),
        show: |s| json!(s.generate.sampling.top_p.map(number)),
    },
    OptionSpec {
        name: "top-k",
        group: SAMPLING,
        value: "K",
        expected: "a number from 1",
        help: "Keep the K most probable tokens [default: all]",
        read: |s, t| within(t, 1..=usize::MAX).map(|n| s.generate.sampling.top_k = Some(n)),
        show: |s| json!(s.generate.sampling.top_k),
    },
    OptionSpec {
        name: "min-p",
        group: SAMPLING,
        value: "X",
        expected: "a number from 0 to 1",
        help: "Drop tokens less probable than this share of the best one [default: off]",
        read: |s, t| within(t, 0.0..=1.0).map(|x| s.generate.sampling.min_p = Some(x)),
        show: |s| json!(s.generate.sampling.min_p.map(number)),
    },
    OptionSpec {
        name: "repetition-penalty",
        group: SAMPLING,
        value: "X",
        expected: "a positive number (1 has no effect)",
        help: "Above 1: make tokens that have occurred less probable [default: off]",
        read: |s, t| within(t, f32::MIN_POSITIVE..=f32::MAX).map(|x| s.generate.sampling.repetition_penalty = Some(x)),
        show: |s| json!(s.generate.sampling.repetition_penalty.map(number)),
    },
    OptionSpec {
        name: "seed",
        group: SAMPLING,
        value: "S",
        expected: "a whole number from 0 to 18446744073709551615",
        help: "The same seed gives the same candidates",
        read: |s, t| parsed(t).map(|seed| s.generate.seed = seed),
        show: |s| json!(s.generate.seed),
    },
    OptionSpec {
        name: "draft-length",
        group: GENERATION,
        value: "auto|bass|table|K",
        expected: "auto, bass, table or a number from 0 to 64",
        help: "Draft tokens per step: auto, the most tokens per millisecond by measured cost and acceptance, 0 where drafting does \
               not pay; bass, which grows and shrinks with acceptance; table, the best length by number of candidates, measured \
               once; or a number from 0 to 64",
        read: |s, t| parsed(t).map(|length| s.generate.draft_length = length),
        show: |s| json!(s.generate.draft_length.to_string()),
    },
    OptionSpec {
        name: "accept",
        group: GENERATION,
        value: "rejection|coupled",
        expected: "",
        help: "How drafts are accepted; with coupled the very same text comes out whatever the drafts",
        read: |s, t| parsed(t).map(|rule| s.generate.accept = rule),
        show: |s| json!(s.generate.accept.to_string()),
    },
    OptionSpec {
        name: "stop",
        group: GENERATION,
        value: "STR",
        expected: "a text that is not empty",
        help: "End a candidate at this text; may be given several times",
        read: |s, t| (!t.is_empty()).then(|| s.generate.stop.strings.push(t.to_owned())),
        show: |s| json!(s.generate.stop.strings),
    },
    OptionSpec {
        name: "no-default-stops",
        group: GENERATION,
        value: "",
        expected: "true or false",
        help: "Do not end a candidate at the end of its function",
        read: |s, t| parsed(t).map(|on| s.no_default_stops = on),
        show: |s| json!(s.no_default_stops),
    },
    OptionSpec {
        name: "time-budget",
        group: GENERATION,
        value: "TIME",
        expected: "a time such as 2.5s or 800ms",
        help: "Time for all candidates, such as 2.5s or 800ms: what has finished by then counts [default: no limit]",
        read: |s, t| duration(t).map(|time| s.generate.time_budget = Some(time)),
        show: |s| json!(s.generate.time_budget.map(|time| time.as_secs_f64())),
    },
    OptionSpec {
        name: "timeout",
        group: TESTS,
        value: "TIME",
        expected: "a time above 0, up to a day, such as 10s",
        help: "Longest run of the tests on one candidate; what it waits for a core does not count, up to three times as long",
        read: |s, t| {
            let possible = |time: &Duration| !time.is_zero() && time.as_secs() <= 86_400;
            duration(t).filter(possible).map(|time| s.limits.wall = time)
        },
        show: |s| json!(s.limits.wall.as_secs_f64()),
    },
    OptionSpec {
        name: "memory",
        group: TESTS,
        value: "MIB",
        expected: "a number of MiB from 64 to 1048576",
        help: "MiB of memory that the tests on one candidate may use; tools get at least what they need: 2048 or 4096 in JavaScript \
               projects, 2048 for commands, 3072 to compile",
        read: |s, t| within(t, 64..=1 << 20).map(|mib: u64| s.limits.memory = mib << 20),
        show: |s| json!(s.limits.memory >> 20),
    },
    OptionSpec {
        name: "processes",
        group: TESTS,
        value: "P",
        expected: "a number from 1 to 4096",
        help: "Most processes and threads of the tests on one candidate",
        read: |s, t| within(t, 1..=4096).map(|n| s.limits.processes = n),
        show: |s| json!(s.limits.processes),
    },
    OptionSpec {
        name: "python",
        group: TESTS,
        value: "PROGRAM",
        expected: "the path of a Python interpreter",
        help: "The Python that code is run with [default: that of the project's environment, else the first in PATH]",
        read: |s, t| text(t).map(|t| s.python = Some(t.into())),
        show: |s| json!(s.python.as_ref().map(|path| path.to_string_lossy())),
    },
    OptionSpec {
        name: "agree",
        group: COMPARING,
        value: "auto|on|off",
        expected: "",
        help: "Call the candidates on the same inputs in the sandbox, and rank those first that do what most do; auto: in \
               languages where that is done; on: also says where it is not",
        read: |s, t| {
            s.agree = match t.trim() {
                "auto" => None,
                "on" => Some(true),
                "off" => Some(false),
                _ => return None,
            };
            Some(())
        },
        show: |s| json!(s.agree.map_or("auto", |agree| if agree { "on" } else { "off" })),
    },
    OptionSpec {
        name: "rounds",
        group: COMPARING,
        value: "R",
        expected: "1 to 3 rounds",
        help: "While all candidates fail their tests, write as many again at a higher temperature; at most R rounds, 1 to 3",
        read: |s, t| within(t, 1..=MOST_ROUNDS).map(|rounds| s.rounds = rounds),
        show: |s| json!(s.rounds),
    },
    OptionSpec {
        name: "tests",
        group: PROJECT,
        value: "FILE",
        expected: "a tests file, a folder, a pattern or a list of these",
        help: "Tests of functions where no --tests says which",
        read: |s, t| text(t).map(|t| s.tests.push(t)),
        show: |s| json!(s.tests),
    },
    OptionSpec {
        name: "stop-on-pass",
        group: SCREEN,
        value: "",
        expected: "true or false",
        help: "Stop writing as soon as a candidate passes",
        read: |s, t| parsed(t).map(|on| s.stop_on_pass = on),
        show: |s| json!(s.stop_on_pass),
    },
    OptionSpec {
        name: "watch",
        group: SCREEN,
        value: "",
        expected: "true or false",
        help: "Follow the editor: candidates for a stub as soon as it is saved, tests again for other changes; the key F does \
               the same",
        read: |s, t| parsed(t).map(|on| s.watch = on),
        show: |s| json!(s.watch),
    },
    OptionSpec {
        name: "history",
        group: HISTORY,
        value: "",
        expected: "true or false",
        help: "Do not keep this run for `bass-tui history`",
        read: |s, t| parsed(t).map(|on| s.history = on),
        show: |s| json!(s.history),
    },
    OptionSpec {
        name: "kv-cache",
        group: SCREEN,
        value: "MIB",
        expected: "a number of MiB up to 1048576, 0 for none",
        help: "MiB of memory for what was read of prompts, so that the next request for one is written at once; 0 keeps nothing \
               [default: a sixteenth of the memory, at most 1024]",
        read: |s, t| within(t, 0..=1 << 20).map(|n| s.kv_cache = Some(n)),
        show: |s| json!(s.kv_cache),
    },
    OptionSpec {
        name: "plain",
        group: SCREEN,
        value: "",
        expected: "true or false",
        help: "Print the candidates one after another and ask which to take, without a screen; also with ACCESSIBLE=1 or \
               TERM=dumb in the environment",
        read: |s, t| parsed(t).map(|on| s.plain = on),
        show: |s| json!(s.plain),
    },
    OptionSpec {
        name: "theme",
        group: SCREEN,
        value: "NAME",
        expected: "auto, light, dark or the name of another theme",
        help: "Colours: auto (light or dark, by the background), another theme of the program, or the name of a file in the \
               folder themes beside config.toml; a wrong name lists them",
        read: |s, t| text(t).map(|t| s.theme = t),
        show: |s| json!(s.theme),
    },
];

/// The option of this name, which is one.
pub fn named(name: &str) -> &'static OptionSpec {
    ALL.iter().find(|option| option.name == name).expect("a name of the table")
}

/// The options of some groups.
pub fn of(groups: u16) -> impl Iterator<Item = &'static OptionSpec> {
    ALL.iter().filter(move |option| option.group & groups != 0)
}

impl OptionSpec {
    /// Its name in the config file.
    pub fn setting(&self) -> String {
        self.name.replace('-', "_")
    }

    /// The file of a project may set it: options of its tests and prompts.
    pub fn is_of_projects(&self) -> bool {
        self.group & OF_PROJECTS != 0
    }

    /// Its flag, without dashes. The history is on unless the flag takes it away.
    fn long(&self) -> &'static str {
        if self.name == "history" { "no-history" } else { self.name }
    }

    /// Its flag.
    pub fn flag(&self) -> String {
        let dashes = if self.name.len() == 1 { "-" } else { "--" };
        format!("{dashes}{}", self.long())
    }

    /// Takes a value over; the error is what was expected, and which of its words is near.
    pub fn set(&self, settings: &mut Settings, text: &str) -> Result<(), String> {
        (self.read)(settings, text).ok_or_else(|| self.expected() + &did_you_mean(text.trim(), self.words()))
    }

    /// Possible values, to follow "expected".
    pub fn expected(&self) -> String {
        match self.expected {
            "" => match self.value.rsplit_once('|') {
                Some((first, last)) => format!("{} or {last}", first.replace('|', ", ")),
                None => self.value.to_owned(),
            },
            expected => expected.to_owned(),
        }
    }

    /// It is on or off.
    pub fn is_switch(&self) -> bool {
        self.value.is_empty()
    }

    /// Its value, as it is shown: null only where it has none.
    pub fn shown(&self, settings: &Settings) -> Value {
        (self.show)(settings)
    }

    /// Its value; null where it has none, or it is an empty list or a switch that is off.
    pub fn value(&self, settings: &Settings) -> Value {
        let value = (self.show)(settings);
        if value == json!([]) || value == json!(false) { Value::Null } else { value }
    }

    /// Its effect.
    pub fn help(&self) -> &'static str {
        self.help
    }

    /// It takes several values.
    pub fn is_list(&self) -> bool {
        (self.show)(&Settings::default()).is_array()
    }

    /// Words that it takes beside what its placeholder stands for.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        self.value.split('|').filter(|word| word.starts_with(|c: char| c.is_ascii_lowercase()))
    }

    /// Placeholder for its value.
    pub fn placeholder(&self) -> &'static str {
        self.value
    }

    /// Its section of the help.
    pub fn heading(&self) -> &'static str {
        match self.group {
            MODELS | SERVER => "Models",
            TESTS | PROJECT | COMPARING => "Tests",
            SCREEN => "Screen",
            HISTORY => "History",
            PROMPTS => "Prompt",
            _ => "Generation",
        }
    }

    fn arg(&self) -> Arg {
        let heading = self.heading();
        let default = match self.value(&Settings::default()) {
            Value::Null | Value::Bool(_) => String::new(),
            Value::String(text) => format!(" [default: {text}]"),
            Value::Number(number) if self.value == "TIME" => {
                format!(" [default: {}s]", number.as_f64().unwrap_or_default())
            }
            other => format!(" [default: {other}]"),
        };
        let arg = Arg::new(self.name).help(format!("{}{default}", self.help)).help_heading(heading);
        let arg = match self.name {
            "n" => arg.short('n').long("candidates"),
            _ => arg.long(self.long()),
        };
        if self.value.is_empty() {
            return arg.action(ArgAction::SetTrue);
        }
        let arg = arg.action(if self.is_list() { ArgAction::Append } else { ArgAction::Set });
        arg.value_name(self.value).allow_negative_numbers(true).allow_hyphen_values(self.value == "TIME")
    }
}

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

/// The rest of a sentence with the nearest of the `known` words, if one is near.
pub fn did_you_mean<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = get_close_matches(text, &known, 1, 0.7);
    nearest.first().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Reads `2.5s`, `800ms`, `1m` or plain seconds.
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let scale = match unit {
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.trim().parse::<f64>().ok()? * scale).ok()
}

fn is_auto(text: &str) -> bool {
    text.trim() == "auto"
}

fn yes_or_no(text: &str) -> Option<bool> {
    match text.trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn text(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

fn parsed<T: FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

fn within<T: FromStr + PartialOrd>(text: &str, range: RangeInclusive<T>) -> Option<T> {
    parsed(text).filter(|value| range.contains(value))
}

/// The shortest number that reads as `x`, not the f64 nearest to it.
fn number(x: f32) -> Value {
    json!(x.to_string().parse::<f64>().unwrap_or(f64::from(x)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::engine::draft_length::POLICIES;
    use crate::engine::drafter::DRAFTERS;

    /// Values of all options, by name.
    pub(crate) fn values(settings: &Settings) -> BTreeMap<&'static str, Value> {
        ALL.iter().map(|option| (option.name, option.value(settings))).collect()
    }

    /// A value for every option that is not its default.
    pub(crate) fn other(option: &OptionSpec) -> &'static str {
        match option.name {
            "model" | "server" | "server-model" | "theme" | "stop" => "mine",
            "draft" => "none",
            "show-tests" | "infill" | "chat" => "no",
            "device" => "cpu",
            "dtype" | "draft-dtype" => "int8",
            "accept" => "rejection",
            "top-p" | "min-p" | "temperature" => "0.25",
            "time-budget" | "timeout" => "2.5s",
            "no-default-stops" | "stop-on-pass" | "watch" | "plain" | "no-cuda-graphs" => "true",
            "history" => "false",
            "server-suffix" => "yes",
            "agree" => "off",
            "memory" => "100",
            _ => "3",
        }
    }

    #[test]
    fn help_names_a_default_once() {
        for option in ALL {
            let help = option.arg().get_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.matches("[default:").count() < 2, "{help}");
        }
    }

    #[test]
    fn every_option_sets_what_it_shows_and_nothing_else() {
        let defaults = values(&Settings::default());
        for option in ALL {
            let mut settings = Settings::default();
            option.set(&mut settings, other(option)).unwrap();
            let mut changed = values(&settings);
            assert_ne!(
                changed.insert(option.name, Value::Null),
                Some(defaults[option.name].clone()),
                "{}",
                option.name
            );
            let mut expected = defaults.clone();
            expected.insert(option.name, Value::Null);
            assert_eq!(changed, expected, "{}", option.name);
        }
    }

    #[test]
    fn alternatives_in_the_help_are_understood() {
        for option in ALL {
            for word in option.words() {
                let mut settings = Settings::default();
                option.set(&mut settings, word).unwrap();
                assert_eq!(option.value(&settings), word, "{}", option.name);
            }
        }
        let names = |option| named(option).value.split('|').collect::<Vec<_>>();
        assert!(DRAFTERS.iter().all(|drafter| names("draft").contains(&drafter.name)));
        assert!(POLICIES.iter().all(|policy| names("draft-length").contains(&policy.name)));
        let device = ALL.iter().find(|option| option.name == "device").unwrap();
        assert_eq!(device.value, *crate::backend::device::NAMES);
    }

    #[test]
    fn times_are_read() {
        assert_eq!(duration("2.5s"), Some(Duration::from_millis(2500)));
        assert_eq!(duration("800ms"), Some(Duration::from_millis(800)));
        assert_eq!(duration("3"), Some(Duration::from_secs(3)));
        assert_eq!(duration("0s"), Some(Duration::ZERO));
        for wrong in ["soon", "-1s", "1h", "", "s"] {
            assert_eq!(duration(wrong), None, "{wrong}");
        }
    }
}
