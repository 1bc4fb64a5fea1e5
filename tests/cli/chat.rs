//! Models that were taught conversations: when they are asked through their chat template, and what is shown.

use std::fs;
use std::path::PathBuf;

use bass_tui::model::{Model, ModelFiles, TensorType};

use super::tools::ollama;
use super::world::{STUB, World, model, text_of, token_ids};
use super::write::converted;

/// A template of the most usual shape.
const TEMPLATE: &str = "{{ bos_token }}{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}\
                        {% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/// A golden model with a chat template, in a folder of this name.
fn chat_model(world: &World, name: &str) -> String {
    let folder = world.work().join(name);
    fs::rename(world.model("qwen2"), &folder).expect("a folder");
    let settings = serde_json::json!({ "chat_template": TEMPLATE, "bos_token": "<s>" }).to_string();
    fs::write(folder.join("tokenizer_config.json"), settings).expect("a file");
    text_of(&folder)
}

#[test]
fn a_model_is_asked_through_its_template_where_its_name_says_so() {
    let world = World::new();
    let (instruct, base) = (chat_model(&world, "tiny-instruct"), chat_model(&world, "tiny"));
    world.file("mine.py", format!("LIMIT = 3\n\n\n{STUB}"));
    let shown = |model: &str, more: &[&str]| {
        let args = ["complete", "--file", "mine.py:is_even", "--show-prompt", "--model", model];
        world.run(&[&args[..], more].concat()).code(0).out
    };
    let asked = shown(&instruct, &[]);
    assert!(asked.starts_with("<s><|im_start|>user\nComplete the Python function `is_even`"), "{asked}");
    let begun = format!("```<|im_end|>\n<|im_start|>assistant\n```python\n{STUB}");
    assert!(asked.ends_with(&begun) && asked.matches(STUB).count() == 2, "{asked}");
    assert_eq!(shown(&base, &["--chat", "yes"]), asked);
    for bare in [shown(&base, &[]), shown(&instruct, &["--chat", "no"])] {
        assert!(bare.ends_with(STUB) && !bare.contains("im_start"), "{bare}");
    }
    // So may an entry of the catalog, which a flag overrides.
    let entry = format!("[[model]]\nname = \"mine\"\nmain = {base:?}\nchat = true\n");
    world.config("");
    fs::write(world.surroundings()[0].1.join("models.toml"), entry).expect("a file");
    assert_eq!(shown("mine", &[]), asked);
    assert!(!shown("mine", &["--chat", "no"]).contains("im_start"));

    let about = |model: &str| world.run(&["models", "show", model]).code(0).out;
    assert!(
        about(&instruct).contains(r#""<s><|im_start|>user\n" REQUEST "<|im_end|>\n<|im_start|>assistant\n""#),
        "{}",
        about(&instruct)
    );
    assert!(about(&base).contains("its chat template is not used"));
    world.run(&["complete", STUB, "--model", "built-in", "--chat", "yes"]).refused(2, &["chat template", "--chat yes"]);
    fs::write(
        world.work().join("tiny-instruct/chat_template.jinja"),
        "{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}",
    )
    .expect("a file");
    world
        .run(&["complete", STUB, "--model", &instruct])
        .refused(2, &["chat_template.jinja", "more steps", "--chat no"]);
}

#[test]
fn thoughts_that_take_all_tokens_are_said() {
    let world = World::new();
    let model = chat_model(&world, "tiny-instruct");
    let stub = "def one():\n    \"\"\"\n    >>> one()\n    1\n    \"\"\"\n";
    let args = [stub, "--model", &model, "-n", "2", "--max-tokens", "8", "--temperature", "0"];
    let settings = |template: &str| {
        let settings = serde_json::json!({ "chat_template": template, "bos_token": "<s>" }).to_string();
        fs::write(world.work().join("tiny-instruct/tokenizer_config.json"), settings).expect("a file");
    };
    // Its answers begin within thoughts, which the random model never ends.
    settings(&format!("{TEMPLATE}<think>\n"));
    let why = "its thoughts took all 8 tokens: raise --max-tokens, or choose a model that answers without thinking";
    // None can be picked.
    let report = world.run(&[&["complete"], &args[..], &["--json"]].concat()).code(1).json();
    for candidate in report["candidates"].as_array().expect("candidates") {
        assert_eq!((&candidate["text"], &candidate["finish"]), (&"".into(), &"length".into()), "{candidate}");
        assert_eq!(candidate["verdict"]["message"], why, "{candidate}");
    }
    let done = world.run(&[&["complete"], &args[..]].concat()).code(1);
    assert!(done.err.contains(why), "{}", done.err);
    // A switch of the template turns them off.
    settings(&format!(
        "{TEMPLATE}{{% if not thinking | default(true) %}}<think></think>{{% else %}}<think>{{% endif %}}"
    ));
    let done = world.run(&[&["complete"], &args[..], &["--tests", "none"]].concat());
    assert!(!done.err.contains("thoughts"), "{}", done.err);
}

#[test]
fn a_model_of_ollama_is_known_by_the_name_of_its_manifest() {
    let world = World::new();
    let folder = PathBuf::from(model("qwen2"));
    let golden = Model::load(&ModelFiles::Folder(folder.clone())).expect("a model");
    let mut writer = converted(&golden, &folder, "qwen2", TensorType::Q8_0);
    writer.text("general.name", "Tiny");
    writer.text("tokenizer.chat_template", TEMPLATE);
    for name in ["tiny-instruct:1b", "tiny:b"] {
        ollama(&world, name, &writer.bytes(0..writer.tensors()));
        let shown = world.run(&["complete", STUB, "--show-prompt", "--model", &format!("ollama:{name}")]).code(0).out;
        assert_eq!(shown.contains("<|im_start|>user\n"), name.contains("instruct"), "{shown}");
    }
}

#[test]
fn drafts_change_nothing_of_an_answer() {
    let world = World::new();
    let instruct = chat_model(&world, "tiny-instruct");
    let answer = |draft: &str| {
        let args = [STUB, "--tests", "none", "--model", &instruct, "--draft", draft, "--draft-length", "4", "-n", "2"];
        let rest = ["--json", "--temperature", "0", "--max-tokens", "40"];
        // A model of random numbers answers without code, which is no candidate to take.
        world.run(&[&["complete"], &args[..], &rest].concat()).code(1).json()
    };
    let (plain, drafted) = (answer("none"), answer(&model("qwen2-draft")));
    assert_eq!(token_ids(&plain), token_ids(&drafted));
    assert_eq!(plain["candidates"][0]["text"], drafted["candidates"][0]["text"]);
    assert!(drafted["stats"]["drafted"].as_u64() > Some(0) && plain["stats"]["drafted"] == 0);
}
