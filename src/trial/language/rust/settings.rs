//! Settings of cargo in a project (`.cargo/config.toml`), as far as a trial has to know them. Cargo reads
//! them itself for a build; the built tests are started without it. Pure.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::sandbox::VARIABLES;

/// The files in the folders from a package up to the root of its project, each with its folder. The inner
/// ones come first, as theirs is the last word.
#[derive(Debug, Default)]
pub struct Settings(Vec<(PathBuf, Table)>);

impl Settings {
    /// The settings for a package. `read` returns the text of a file of the project.
    pub fn of(package: &Path, read: impl Fn(&Path) -> Option<String>) -> Self {
        let file = |folder: &Path| {
            // Cargo prefers the name without an end.
            let mut texts = ["config", "config.toml"].iter().filter_map(|name| read(&folder.join(".cargo").join(name)));
            Some((folder.to_path_buf(), texts.next()?.parse().ok()?))
        };
        Self(package.ancestors().filter_map(file).collect())
    }

    /// Returns true if flags of the compiler make an error of a lint.
    pub fn denies(&self) -> bool {
        let flags = |table: &Table| -> Vec<String> {
            let targets = table.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
            let tables = table.get("build").into_iter().chain(targets);
            tables.filter_map(|table| table.get("rustflags")).flat_map(words).collect()
        };
        let is_level = |word: &String| ["-D", "-F", "--deny", "--forbid"].iter().any(|head| word.starts_with(head));
        self.0.iter().any(|(_, table)| flags(table).iter().any(is_level))
    }

    /// The variables that cargo gives to tests, in a copy of the project with this root.
    pub fn environment(&self, root: &Path) -> Vec<(OsString, OsString)> {
        let mut variables: Vec<(OsString, OsString)> = Vec::new();
        for (folder, table) in &self.0 {
            for (name, value) in table.get("env").and_then(Value::as_table).into_iter().flatten() {
                let is = |key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
                let Some(text) = value.as_str().or_else(|| value.get("value")?.as_str()) else { continue };
                let is_known = variables.iter().any(|(known, _)| known == name.as_str());
                // One that a program has anyway is replaced only by force.
                if is_known || VARIABLES.contains(&name.as_str()) && !is("force") {
                    continue;
                }
                let text = if is("relative") { root.join(folder).join(text).into() } else { text.into() };
                variables.push((name.into(), text));
            }
        }
        variables
    }
}

/// The words of a list, or of a text that separates them by spaces.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(words) => words.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(words) => words.split_whitespace().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(files: &[(&str, &str)]) -> Settings {
        let text = |path: &Path| {
            let found = files.iter().find(|(name, _)| Path::new(name) == path);
            found.map(|(_, text)| (*text).to_owned())
        };
        Settings::of(Path::new("crates/a"), text)
    }

    #[test]
    fn variables_of_the_inner_folder_come_first() {
        let inner = "[env]\nA = \"1\"\nB = { value = \"b\", relative = true }\nHOME = \"/x\"\n";
        let outer = "[env]\nA = \"2\"\nC = { value = \"c\" }\nTZ = { value = \"UTC\", force = true }\n";
        let found = settings(&[("crates/a/.cargo/config.toml", inner), (".cargo/config", outer)]);
        let found: Vec<String> = found
            .environment(Path::new("/copy"))
            .iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(found, ["A=1", "B=/copy/crates/a/b", "C=c", "TZ=UTC"]);
    }

    #[test]
    fn flags_that_make_errors_of_lints_are_known() {
        for (text, denies) in [
            ("[build]\nrustflags = [\"-D\", \"warnings\"]\n", true),
            ("[target.'cfg(unix)']\nrustflags = \"--cfg a -Funsafe_code\"\n", true),
            ("[build]\nrustflags = [\"--cfg\", \"deny\", \"-Wunused\"]\n", false),
            ("[env]\nA = \"-D\"\n", false),
        ] {
            assert_eq!(settings(&[(".cargo/config.toml", text)]).denies(), denies, "{text}");
        }
    }
}
