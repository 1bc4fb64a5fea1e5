//! Texts that Jinja2 makes of templates, held against ours. `tests/data/templates/render.py` makes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::{Role, Switch, Template};

/// The cases of a file that differ, as sentences, by template; and the number of templates.
fn differing(path: &Path) -> (BTreeMap<String, Vec<String>>, usize) {
    let file: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let turns = |name: &Value| -> Vec<(Role, String)> {
        let of = |turn: &Value| {
            let role = [Role::System, Role::User, Role::Assistant].into_iter().find(|role| role.name() == turn[0]);
            (role.unwrap(), turn[1].as_str().unwrap().to_owned())
        };
        file["turns"][name.as_str().unwrap()].as_array().unwrap().iter().map(of).collect()
    };
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let templates = file["templates"].as_array().unwrap();
    for row in templates {
        let name = row["name"].as_str().unwrap();
        let tokens = [("bos_token", "<s>"), ("eos_token", "</s>")].map(|(name, text)| (name.into(), text.into()));
        let text = row["template"].as_str().unwrap().to_owned();
        let template = Template { path: name.into(), text, tokens: tokens.to_vec() };
        for case in row["cases"].as_array().unwrap() {
            let switch = case["thinking"].as_bool().map(|is_on| Switch::Flag("enable_thinking", is_on));
            let ours = template.run(&turns(&case["turns"]), switch);
            if ours.as_deref().ok() != case["text"].as_str() {
                let said = format!("{} {}: {ours:?}, expected {}", case["turns"], case["thinking"], case["text"]);
                found.entry(name.to_owned()).or_default().push(said);
            }
        }
    }
    (found, templates.len())
}

#[test]
fn every_part_of_the_language_is_as_in_jinja2() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/templates/constructs.json");
    let (differing, count) = differing(&path);
    assert!(count >= 30);
    assert!(differing.is_empty(), "{differing:#?}");
}

/// Templates that models come with: `TEMPLATES` names what `render.py FOLDER` made of a folder of them.
#[test]
#[ignore = "needs templates of other projects"]
fn published_templates() {
    let (differing, count) = differing(Path::new(&std::env::var_os("TEMPLATES").expect("TEMPLATES=FILE")));
    for (name, cases) in &differing {
        println!("{name}: {} differ, such as {:.2000}", cases.len(), cases[0]);
    }
    assert!(differing.is_empty(), "{} of {count} templates are equal", count - differing.len());
}
