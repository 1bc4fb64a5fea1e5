//! Options of node in mocha's settings. Mocha hands them to a process that it starts, which has no report
//! pipe. Here node gets them at once, and mocha the settings without them.

use std::path::Path;

use serde_json::{Map, Value};

use super::script::bare;
use crate::files;
use crate::trial::project::settings::MOCHA;

/// Options of node besides those in the list `node-option`.
const OF_NODE: [&str; 5] = ["import", "loader", "experimental-loader", "conditions", "enable-source-maps"];
/// Size limit of a file of settings.
const LARGEST: u64 = 1 << 20;

/// Settings that hold options of node.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Settings {
    /// These options.
    node: Vec<String>,
    /// The other settings, as JSON.
    rest: String,
}

/// Moves the options of node from the settings of a package to `node`. `runner`, the options of mocha, names
/// the settings no longer. Returns the other settings, as JSON; `None` where nothing was moved.
pub fn taken(folder: &Path, node: &mut Vec<String>, runner: &mut Vec<String>) -> Option<String> {
    let named = runner.iter().position(|word| word == "--config");
    let settings = of(folder, named.and_then(|at| Some(runner.get(at + 1)?.as_str())))?;
    node.extend(settings.node);
    if let Some(at) = named {
        runner.drain(at..at + 2);
    }
    Some(settings.rest)
}

/// The settings of a package, if they hold options of node; those in `named` if the script names a file.
fn of(folder: &Path, named: Option<&str>) -> Option<Settings> {
    let read = |name: &str| -> Option<Map<String, Value>> {
        serde_json::from_str(&bare(&files::text(&folder.join(name), LARGEST).ok()?)).ok()
    };
    let is_json =
        |name: &&&str| Path::new(name).extension().is_some_and(|ending| ending == "jsonc" || ending == "json");
    let own_file = || MOCHA.iter().filter(is_json).find_map(|name| read(name));
    let own = || own_file().or_else(|| read("package.json")?.get("mocha")?.as_object().cloned());
    let mut settings = named.map_or_else(own, read)?;
    let words = |value: &Value| match value {
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(word) => vec![word.clone()],
        _ => Vec::new(),
    };
    let mut node: Vec<String> = Vec::new();
    for key in ["node-option", "n"] {
        node.extend(settings.remove(key).iter().flat_map(words).map(|option| format!("--{option}")));
    }
    for key in OF_NODE {
        match settings.remove(key) {
            Some(Value::Bool(true)) => node.push(format!("--{key}")),
            Some(value) => node.extend(words(&value).into_iter().map(|word| format!("--{key}={word}"))),
            None => {}
        }
    }
    (!node.is_empty()).then(|| Settings { node, rest: Value::Object(settings).to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_node_are_taken_out() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(of(folder.path(), None), None);
        write("package.json", r#"{"mocha": {"loader": "ts-node/esm", "ui": "tdd"}}"#);
        let rest = r#"{"ui":"tdd"}"#.to_owned();
        assert_eq!(of(folder.path(), None), Some(Settings { node: vec!["--loader=ts-node/esm".to_owned()], rest }));
        write(".mocharc.json", r#"{"node-option": ["import=tsx", "no-warnings"], "spec": "test"}"#);
        let node = ["--import=tsx", "--no-warnings"].map(str::to_owned).to_vec();
        let rest = r#"{"spec":"test"}"#.to_owned();
        assert_eq!(of(folder.path(), None), Some(Settings { node, rest }));
        // Mocha reads this file before the other one, and leaves out its comments.
        write(".mocharc.jsonc", "{\n  // for a server\n  \"require\": \"a\", /* and */ \"import\": \"tsx\",\n}\n");
        let rest = r#"{"require":"a"}"#.to_owned();
        assert_eq!(of(folder.path(), None), Some(Settings { node: vec!["--import=tsx".to_owned()], rest }));
        write("other.json", r#"{"spec": "test"}"#);
        assert_eq!(of(folder.path(), Some("other.json")), None);
    }
}
