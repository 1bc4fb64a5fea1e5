//! A manifest of a crate, `Cargo.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// A manifest as far as it can be read.
#[derive(Debug, Default)]
pub struct Manifest(Table);

impl Manifest {
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    /// The manifest in a folder.
    pub fn at(folder: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(folder.join("Cargo.toml")).ok()?)
    }

    /// The name of its package.
    pub fn package(&self) -> Option<&str> {
        self.0.get("package")?.get("name")?.as_str()
    }

    /// The file of its library.
    pub fn library(&self) -> &str {
        self.0.get("lib").and_then(|lib| lib.get("path")?.as_str()).unwrap_or("src/lib.rs")
    }

    /// Returns true if its library is a procedural macro.
    pub fn is_macro(&self) -> bool {
        let is_set = |key: &str| self.0.get("lib").and_then(|lib| lib.get(key)?.as_bool()) == Some(true);
        is_set("proc-macro") || is_set("proc_macro")
    }

    /// Returns true if a test program of this name has no harness of cargo's.
    pub fn has_own_harness(&self, name: &str) -> bool {
        let tests = self.0.get("test").and_then(Value::as_array).into_iter().flatten();
        let mut own = tests.filter(|test| test.get("name").and_then(Value::as_str) == Some(name));
        own.any(|test| test.get("harness").and_then(Value::as_bool) == Some(false))
    }

    /// Names of its features.
    pub fn features(&self) -> Vec<String> {
        let all = self.0.get("features").and_then(Value::as_table);
        all.into_iter().flat_map(|all| all.keys().cloned()).collect()
    }

    /// Levels of its lints.
    pub fn lints(&self) -> Option<&Value> {
        self.0.get("lints")
    }

    /// Levels of lints that packages of its workspace share.
    pub fn shared_lints(&self) -> Option<&Value> {
        self.of_workspace("lints")
    }

    /// All dependencies, those of tests and of single systems too.
    pub fn dependencies(&self) -> impl Iterator<Item = (&str, &Value)> {
        let systems = self.0.get("target").and_then(Value::as_table).into_iter().flatten();
        let systems = systems.filter_map(|(_, table)| table.as_table());
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        let tables = [&self.0].into_iter().chain(systems).flat_map(move |table| kinds.map(|kind| table.get(kind)));
        tables.flatten().filter_map(Value::as_table).flatten().map(|(name, value)| (name.as_str(), value))
    }

    /// Dependencies that packages of its workspace share.
    pub fn shared_dependencies(&self) -> Option<&Value> {
        self.of_workspace("dependencies")
    }

    fn of_workspace(&self, key: &str) -> Option<&Value> {
        self.0.get("workspace")?.get(key)
    }
}

/// The folder below `root` of the crate that a file belongs to.
pub fn crate_of(root: &Path, file: &Path) -> Option<PathBuf> {
    let is_crate = |folder: &&Path| root.join(folder).join("Cargo.toml").is_file();
    file.ancestors().skip(1).find(is_crate).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_macro_is_told_by_the_manifest_alone() {
        let is_macro = |text: &str| Manifest::parse(text).unwrap().is_macro();
        assert!(is_macro("[lib]\n  proc_macro = true # yes\n") && is_macro("[lib]\nproc-macro=true"));
        assert!(!is_macro("# proc-macro = true\n[dependencies]\nproc-macro2 = \"1\"\n"));
    }
}
