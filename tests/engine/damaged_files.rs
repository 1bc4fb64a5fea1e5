//! Model files with random damage: each loads or is an error that names its file; nothing panics, hangs or
//! takes memory for what a header only claims.
//!
//! `DAMAGED_FILES=13000 cargo test --test engine damaged_files` tries so many.

use std::fs;
use std::path::{Path, PathBuf};

use bass_tui::backend::{self, LoadOptions};
use bass_tui::model::{Model, ModelFiles};

use super::damage::{Random, damage};

const FEW: usize = 400;

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
