//! Model files with random damage: each loads or is an error that names its file; nothing panics, hangs or
//! takes memory for what a header only claims.
//!
//! `DAMAGED_MINUTES=10 cargo test --test engine damaged_files` tries each kind of file for so long;
//! `DAMAGED_FROM=N` begins with number N.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use bass_tui::backend::{self, LoadOptions};
use bass_tui::model::{Model, ModelFiles, TensorType};

use super::damage::{Random, damage};
use super::gguf::written;

/// Files of a kind that every run tries.
const FEW: u64 = 80;

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

/// Pieces that are spliced into templates.
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

/// Links to the files of a model.
fn link(case: &Path, folder: &Path) {
    for entry in fs::read_dir(case).unwrap().map(Result::unwrap) {
        std::os::unix::fs::symlink(entry.path(), folder.join(entry.file_name())).unwrap();
    }
}

/// Damages a file of some model, number after number, and loads it.
fn attempts(name: &str, attempt: impl Fn(&mut Random, &Path) -> Result<(), String>) {
    let number = |variable: &str| std::env::var(variable).ok().and_then(|value| value.parse::<u64>().ok());
    let from = number("DAMAGED_FROM").unwrap_or(0);
    let minutes = number("DAMAGED_MINUTES").map(|minutes| Duration::from_secs(60 * minutes));
    let (start, mut loaded, mut seed) = (Instant::now(), 0, from);
    while minutes.map_or(seed < from + FEW, |minutes| start.elapsed() < minutes) {
        let folder = tempfile::tempdir().unwrap();
        match attempt(&mut Random(seed), folder.path()) {
            Ok(()) => loaded += 1,
            Err(why) => {
                let named = why.contains(&*folder.path().file_name().unwrap().to_string_lossy()) || why.contains(name);
                assert!(named, "{name}, number {seed}: {why}");
            }
        }
        seed += 1;
    }
    println!("{name}: {} files, {loaded} of them load", seed - from);
    assert!(loaded < seed - from, "{name}: all load");
}

/// All that is done with a model before its first token.
fn load(files: &ModelFiles, chat: bool) -> Result<(), String> {
    let mut model = Model::load(files).map_err(|error| error.to_string())?;
    if chat {
        model.chat(Some(true.into())).map_err(|error| error.to_string())?;
    }
    let options = LoadOptions { threads: 1, ..LoadOptions::default() };
    backend::load(&model, options).map(drop).map_err(|error| error.to_string())
}

/// Damages `name` in a folder of links to a golden model.
fn in_folder(name: &'static str) {
    let models = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models");
    let cases = ["llama-draft", "gemma2", "phi3-longrope", "qwen3-moe", "opt-post-proj", "starcoder2"];
    let is_template = name == "chat_template.jinja";
    let is_chat = is_template || name == "tokenizer_config.json";
    let prepare = |case: &str, folder: &Path| {
        link(&models.join(case), folder);
        if is_chat {
            chat_files(folder);
        }
        if is_chat && !is_template {
            fs::remove_file(folder.join("chat_template.jinja")).unwrap();
        }
    };
    let undamaged = tempfile::tempdir().unwrap();
    prepare(cases[0], undamaged.path());
    assert_eq!(load(&ModelFiles::Folder(undamaged.path().into()), is_chat), Ok(()));
    attempts(name, |random, folder| {
        prepare(random.one_of(&cases), folder);
        let path = folder.join(name);
        let bytes = fs::read(&path).unwrap();
        let head = match name {
            "model.safetensors" => 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize,
            _ => bytes.len(),
        };
        fs::remove_file(&path).unwrap();
        let mut damaged = damage(&bytes, head, random);
        for _ in 0..if is_template { random.below(4) } else { 0 } {
            let at = random.below(damaged.len());
            drop(damaged.splice(at..at, random.one_of(TAGS).bytes()));
        }
        fs::write(&path, damaged).unwrap();
        load(&ModelFiles::Folder(folder.into()), is_chat)
    });
}

#[test]
fn configurations() {
    in_folder("config.json");
}

#[test]
fn settings_of_generation() {
    in_folder("generation_config.json");
}

#[test]
fn headers_of_safetensors() {
    in_folder("model.safetensors");
}

#[test]
fn tokenizers() {
    in_folder("tokenizer.json");
}

#[test]
fn settings_of_tokenizers() {
    in_folder("tokenizer_config.json");
}

#[test]
fn chat_templates() {
    in_folder("chat_template.jinja");
}

#[test]
fn gguf() {
    let whole = |case, architecture, of| {
        let file = written(case, architecture, of);
        file.bytes(0..file.tensors())
    };
    let types = [TensorType::F32, TensorType::Q4_0, TensorType::Q8_0];
    let cases = [("llama", "llama"), ("mixtral", "llama"), ("starcoder2", "starcoder2"), ("gemma", "gemma")];
    let files = cases.map(|(case, architecture)| types.map(|of| whole(case, architecture, of)));
    let folder = tempfile::tempdir().unwrap();
    let undamaged = folder.path().join("m.gguf");
    fs::write(&undamaged, &files[0][0]).unwrap();
    assert_eq!(load(&ModelFiles::Gguf(undamaged), false), Ok(()));
    attempts("m.gguf", |random, folder| {
        let bytes = &files[random.below(files.len())][random.below(types.len())];
        let path = folder.join("m.gguf");
        fs::write(&path, damage_binary(bytes, random)).unwrap();
        load(&ModelFiles::Gguf(path), false)
    });
}

/// Numbers that make a length, a count or an offset overflow, and some that do not quite.
const NUMBERS: &[u64] =
    &[0, 1, 2, 0x7f, 0xff, 0xffff, 1 << 31, u32::MAX as u64, 1 << 32, 1 << 60, 1 << 61, 1 << 62, 1 << 63, u64::MAX];

/// One to three kinds of damage to a file whose header is binary, mostly where lengths stand close together.
fn damage_binary(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let reach = [64, 900, 90_000, usize::MAX][random.below(4)].min(out.len());
        let at = random.below(reach);
        let len = (1 + random.below(40)).min(out.len() - at);
        match random.below(8) {
            0 => out.truncate(at),
            1 => drop(out.drain(at..at + len)),
            2 => {
                let again = out[at..at + len].to_vec();
                drop(out.splice(at..at, again));
            }
            3 => out[at] ^= 1 << random.below(8),
            4 => out[at..at + len].fill([0, 0xff, 0x80, 0x7f][random.below(4)]),
            _ => {
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                let len = [4, 8][random.below(2)].min(out.len() - at);
                out[at..at + len].copy_from_slice(&number[..len]);
            }
        }
        if out.is_empty() {
            break;
        }
    }
    out
}
