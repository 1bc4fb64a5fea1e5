//! `complete --prompt-ids` on models whose greedy paths were computed by the reference implementation.

use std::fs;

use serde_json::{Value, json};

use super::world::{World, candidates, ids, model, text_of, token_ids};

fn expected(case: &str) -> Value {
    serde_json::from_slice(&fs::read(model(case) + "/expected.json").expect("expected.json")).expect("JSON")
}

fn joined(ids: &[u64]) -> String {
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn check(case: &str, draft: &str) {
    let world = World::new();
    let folder = model(case);
    for (name, prompt) in expected(case)["prompts"].as_object().expect("prompts") {
        let ids_in = joined(&ids(&prompt["input_ids"]));
        let report = world.complete(&[
            "--prompt-ids", &ids_in, "--model", &folder, "--draft", draft, "-n", "2", "--temperature", "0",
            "--max-tokens", "48", "--dtype", "f32",
        ]);
        let greedy = ids(&prompt["greedy_ids"]);
        assert_eq!(token_ids(&report), [greedy.clone(), greedy], "{case}, prompt {name}");
        assert_eq!(report["prompt_tokens"].as_u64(), Some(ids(&prompt["input_ids"]).len() as u64));
        assert_eq!(candidates(&report)[0]["finish"], "length");
    }
}

#[test]
fn llama_plain() {
    check("llama", "none");
}

#[test]
fn llama_with_its_draft() {
    check("llama", &model("llama-draft"));
}

#[test]
fn qwen2_plain() {
    check("qwen2", "none");
}

#[test]
fn qwen2_with_its_draft() {
    check("qwen2", &model("qwen2-draft"));
}

#[test]
fn any_id_of_a_list_of_ends_ends() {
    for (case, draft) in [("llama", "llama-draft"), ("qwen2", "qwen2-draft")] {
        let stop = &expected(case)["stop"];
        let input = &expected(case)["prompts"][stop["prompt"].as_str().expect("a name")]["input_ids"];
        let world = World::new();
        let folder = world.model(case);
        for file in ["generation_config.json", "config.json"] {
            let path = folder.join(file);
            let mut value: Value = serde_json::from_slice(&fs::read(&path).expect(file)).expect("JSON");
            value["eos_token_id"] = stop["eos_token_id"].clone();
            fs::write(&path, value.to_string()).expect(file);
        }
        for draft in ["none".to_owned(), model(draft)] {
            let report = world.complete(&[
                "--prompt-ids",
                &joined(&ids(input)),
                "--model",
                &text_of(&folder),
                "--draft",
                &draft,
                "-n",
                "1",
                "--temperature",
                "0",
                "--max-tokens",
                "48",
                "--dtype",
                "f32",
            ]);
            assert_eq!(token_ids(&report), [ids(&stop["greedy_ids"])], "{case}");
            assert_eq!(candidates(&report)[0]["finish"], json!("stop"));
        }
    }
}
