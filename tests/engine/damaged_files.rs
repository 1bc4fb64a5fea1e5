//! Model files with random damage: each loads or is an error that names its file; nothing panics, hangs or
//! takes memory for what a header only claims.
//!
//! `DAMAGED_FILES=13000 cargo test --test engine damaged_files` tries so many.

use std::fs;
use std::path::{Path, PathBuf};

use bass_tui::backend::{self, LoadOptions};
use bass_tui::model::{Model, ModelFiles};

const FEW: usize = 400;

/// Uniform below `most`, a function of its key (`SplitMix64`, Steele et al. 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) % most.max(1) as u64) as usize
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

/// What stands where a number or a word did.
const VALUES: &[&str] = &[
    "0",
    "-1",
    "1",
    "3",
    "0.5",
    "1e999",
    "-1e-999",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "null",
    "true",
    "\"\"",
    "\"x\"",
    "[]",
    "{}",
    "[0]",
    "[1e9,-1]",
    "{\"a\":1}",
];

/// Shapes of chat templates, and what in them can go wrong.
const TEMPLATE: &str = r"{%- set ns = namespace(last=0, text='') %}{%- macro turn(role, text) -%}<|{{ role }}|>{{ text | trim }}{%- endmacro %}
{{- bos_token }}{% for message in messages[::-1] %}{% set ns.last = ns.last + 1 %}{% endfor %}
{%- for message in messages -%}
    {%- if message['role'] == 'user' and message.content is string -%}{{ turn(message.role, message.content) ~ '<|end|>' }}
    {%- elif tools is not none -%}{%- for key, value in message.items() -%}{{ key | tojson }}{{ value.split('x')[-1].strip() * 3 }}{%- endfor -%}
    {%- else -%}{{ raise_exception('no ' + strftime_now('%Y')) }}{%- endif -%}
    {%- if loop.index0 % 2 == 1 -%}{%- break -%}{%- endif -%}
{%- endfor -%}{%- for i in range(3) -%}{% set ns.text = ns.text ~ ns.text ~ i %}{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}";

/// What is spliced into templates.
const TAGS: &[&str] = &[
    "{% for a in range(99999) %}",
    "{% endfor %}",
    "{% if x %}",
    "{% endif %}",
    "{% set ns.text = [ns.text, ns.text] %}",
    "{% set a = [a, a] %}",
    "{{ turn(ns, turn) }}",
    "{{ ns }}",
    "{{ 'x' * 99999999 }}",
    "{{ a | join(messages) | indent(9999999) }}",
    "{{ messages }}",
    "{% generation %}",
    "{% include 'x' %}",
    "{{ (((( ",
    "-%}",
    "{#",
    "'",
    "\u{1F600}",
];

/// The files of a folder that say how its model is asked.
fn chat_files(folder: &Path) {
    let settings =
        serde_json::json!({ "chat_template": TEMPLATE, "bos_token": { "content": "<s>" }, "eos_token": "</s>" });
    fs::write(folder.join("tokenizer_config.json"), settings.to_string()).unwrap();
    fs::write(folder.join("chat_template.jinja"), TEMPLATE).unwrap();
}

/// One kind of damage, mostly within the first `head` bytes, which are text.
fn damage(bytes: &[u8], head: usize, random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let reach = if random.below(8) == 0 { out.len() } else { head.min(out.len()) };
    let at = random.below(reach);
    let len = 1 + random.below(40.min(reach - at));
    match random.below(9) {
        0 => out.truncate(at),
        1 => (0..=random.below(8)).for_each(|_| {
            let at = random.below(reach);
            out[at] = random.below(256) as u8;
        }),
        2 => drop(out.drain(at..at + len)),
        3 => {
            let again = out[at..at + len].to_vec();
            drop(out.splice(at..at, again));
        }
        4 => drop(out.splice(at..at, "[".repeat(1 + random.below(30_000)).into_bytes())),
        5 => drop(out.splice(at..at, "{\"a\":".repeat(1 + random.below(10_000)).into_bytes())),
        // A number, or a word in quotes, becomes something else.
        _ => {
            let is_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
            let from = out[at..reach].iter().position(u8::is_ascii_digit).map_or(at, |offset| at + offset);
            let end = out[from..reach].iter().position(|&byte| !is_number(byte)).map_or(reach, |offset| from + offset);
            let (from, end) = if random.below(3) == 0 {
                let quote = |from: usize| out[from..reach].iter().position(|&b| b == b'"').map(|offset| from + offset);
                quote(at).and_then(|open| Some((open, quote(open + 1)? + 1))).unwrap_or((from, end))
            } else {
                (from, end)
            };
            drop(out.splice(from..end, random.one_of(VALUES).bytes()));
        }
    }
    out
}

/// A folder that links to the files of a model.
fn linked(case: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(case).unwrap().map(Result::unwrap) {
        std::os::unix::fs::symlink(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    folder
}

#[test]
fn damaged_files_load_or_are_named() {
    let count = std::env::var("DAMAGED_FILES").ok().and_then(|count| count.parse().ok()).unwrap_or(FEW);
    let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models");
    let cases = ["llama-draft", "gemma2", "phi3-longrope", "qwen3-moe", "opt-post-proj", "starcoder2"];
    let chat = ["tokenizer_config.json", "chat_template.jinja"];
    let names = ["config.json", "tokenizer.json", "model.safetensors", "generation_config.json", chat[0], chat[1]];
    let mut loaded = 0;
    for seed in 0..count {
        let mut random = Random(seed as u64);
        let case = models.join(cases[random.below(cases.len())]);
        let folder = linked(&case);
        let name = names[random.below(names.len())];
        let is_chat = chat.contains(&name);
        if is_chat {
            chat_files(folder.path());
        }
        if name == chat[0] {
            fs::remove_file(folder.path().join(chat[1])).unwrap();
        }
        let Ok(bytes) = fs::read(folder.path().join(name)) else { continue };
        let head = if name == "model.safetensors" {
            8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize
        } else {
            bytes.len()
        };
        let path = folder.path().join(name);
        fs::remove_file(&path).unwrap();
        let mut damaged = damage(&bytes, head, &mut random);
        for _ in 0..if name == chat[1] { random.below(4) } else { 0 } {
            let at = random.below(damaged.len());
            drop(damaged.splice(at..at, random.one_of(TAGS).bytes()));
        }
        fs::write(&path, damaged).unwrap();
        let load = LoadOptions { threads: 1, ..LoadOptions::default() };
        let outcome = Model::load(&ModelFiles::Folder(folder.path().into())).map_err(|error| error.to_string());
        let outcome = outcome.and_then(|mut model| {
            if is_chat {
                model.chat(Some(true)).map_err(|error| error.to_string())?;
            }
            Ok(model)
        });
        let outcome =
            outcome.and_then(|model| backend::load(&model, load).map(drop).map_err(|error| error.to_string()));
        match outcome {
            Ok(()) => loaded += 1,
            Err(why) => {
                let has_name =
                    why.contains(&*folder.path().file_name().unwrap().to_string_lossy()) || why.contains(name);
                assert!(has_name, "{name} of {}, seed {seed}: {why}", case.display());
            }
        }
    }
    assert!(loaded > 0 && loaded < count, "{loaded} of {count}");
}
