//! Which crates of a project depend on which, as their manifests say.

use std::collections::HashSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

/// Most crates that are looked at on the way from one to another.
const MOST: usize = 200;

/// Returns true if a file is of another crate than the function's file, and that crate does not depend on the
/// function's, directly or through others of the project.
pub fn is_foreign(root: &Path, file: &Path, own: &Path) -> bool {
    let Some((crate_of_file, own)) = folder(root, file).zip(folder(root, own)) else { return false };
    if crate_of_file == own {
        return false;
    }
    let name = |manifest: &Table| manifest.get("package")?.get("name")?.as_str().map(str::to_owned);
    let Some(own_name) = manifest(root, &own).as_ref().and_then(name) else { return false };
    let workspace = manifest(root, Path::new("")).unwrap_or_default();
    let shared = workspace.get("workspace").and_then(|table| table.get("dependencies"));
    let (mut seen, mut next) = (HashSet::new(), vec![crate_of_file]);
    while let Some(folder) = next.pop() {
        if folder == own || seen.len() > MOST {
            return false;
        }
        let Some(manifest) = manifest(root, &folder).filter(|_| seen.insert(folder.clone())) else { continue };
        for (name, value) in dependencies(&manifest) {
            let is_shared = value.get("workspace").and_then(Value::as_bool) == Some(true);
            let of_workspace = shared.and_then(|table| table.get(name)).filter(|_| is_shared);
            let (from, value) = of_workspace.map_or((folder.as_path(), value), |value| (Path::new(""), value));
            if value.get("package").and_then(Value::as_str).unwrap_or(name) == own_name {
                return false;
            }
            let path = value.get("path").and_then(Value::as_str);
            next.extend(path.map(|path| plain(&from.join(path))));
        }
    }
    true
}

/// The folder of the crate that a file belongs to.
fn folder(root: &Path, file: &Path) -> Option<PathBuf> {
    let is_crate = |folder: &&Path| root.join(folder).join("Cargo.toml").is_file();
    file.ancestors().skip(1).find(is_crate).map(Path::to_path_buf)
}

fn manifest(root: &Path, folder: &Path) -> Option<Table> {
    fs::read_to_string(root.join(folder).join("Cargo.toml")).ok()?.parse().ok()
}

/// All dependencies of a manifest, those of tests and of single systems too.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&str, &Value)> {
    let systems = manifest.get("target").and_then(Value::as_table).into_iter().flatten();
    let systems = systems.filter_map(|(_, table)| table.as_table());
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables = [manifest].into_iter().chain(systems).flat_map(move |table| kinds.map(|kind| table.get(kind)));
    tables.flatten().filter_map(Value::as_table).flatten().map(|(name, value)| (name.as_str(), value))
}

/// A path without steps upwards.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::Normal(part) => out.push(part),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_that_do_not_depend_on_the_functions_are_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let package = |name: &str, more: &str| format!("[package]\nname = \"{name}\"\n{more}");
        let shared = "[workspace]\nmembers = [\"*\"]\n[workspace.dependencies]\nform = { path = \"form\" }\n";
        let files = [
            ("form", package("form", "")),
            ("puny", package("puny", "[dependencies]\nserde = \"1\"\n")),
            ("named", package("named", "[dev-dependencies]\nf = { package = \"form\", version = \"1\" }\n")),
            ("through", package("through", "[dependencies]\nnamed = { path = \"../named\" }\n")),
            ("shared", package("shared", "[target.'cfg(unix)'.dependencies]\nform.workspace = true\n")),
        ];
        let files = files.map(|(name, text)| (format!("{name}/Cargo.toml"), text));
        let files = files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        crate::files::write_all(folder.path(), files.chain([("Cargo.toml", shared)]));
        let is =
            |name: &str| is_foreign(folder.path(), &Path::new(name).join("tests/a.rs"), Path::new("form/src/lib.rs"));
        assert!(is("puny") && !["form", "named", "through", "shared"].into_iter().any(is));
    }
}
