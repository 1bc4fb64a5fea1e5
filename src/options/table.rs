//! The table of all options.

use std::time::Duration;

use serde_json::json;

use super::read::{duration, is_auto, number, parsed, text, within, yes_or_no};
use super::{
    COMPARING, GENERATION, HISTORY, MODELS, MOST_ROUNDS, OptionSpec, PROJECT, PROMPTS, SAMPLING, SCREEN, SERVER, TESTS,
};
use crate::backend::Choice;
use crate::engine::MAX_CANDIDATES;
use crate::model::ChatUse;

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
