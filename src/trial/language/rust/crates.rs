//! Which crates of a project depend on which, as their manifests say.

use std::collections::HashSet;
use std::path::Path;

use toml::Value;

use super::manifest::{Manifest, crate_of};
use crate::trial::project::imports::relative_to;

/// Most crates that are looked at on the way from one to another.
const MOST: usize = 200;

/// Returns true if a file is of another crate than the function's file, and that crate does not depend on the
/// function's, directly or through others of the project.
pub fn is_foreign(root: &Path, file: &Path, own: &Path) -> bool {
    let Some((others, own)) = crate_of(root, file).zip(crate_of(root, own)) else { return false };
    if others == own {
        return false;
    }
    let manifest = Manifest::at(&root.join(&own));
    let Some(own_name) = manifest.as_ref().and_then(Manifest::package) else { return false };
    let workspace = Manifest::at(root).unwrap_or_default();
    let (mut seen, mut next) = (HashSet::new(), vec![others]);
    while let Some(folder) = next.pop() {
        if folder == own || seen.len() > MOST {
            return false;
        }
        let manifest = Manifest::at(&root.join(&folder)).filter(|_| seen.insert(folder.clone()));
        for (name, value) in manifest.iter().flat_map(Manifest::dependencies) {
            let is_shared = value.get("workspace").and_then(Value::as_bool) == Some(true);
            let of_workspace = workspace.shared_dependencies().and_then(|table| table.get(name)).filter(|_| is_shared);
            let (from, value) = of_workspace.map_or((folder.as_path(), value), |value| (Path::new(""), value));
            if value.get("package").and_then(Value::as_str).unwrap_or(name) == own_name {
                return false;
            }
            let path = value.get("path").and_then(Value::as_str);
            next.extend(path.map(|path| relative_to(&from.join("Cargo.toml"), path)));
        }
    }
    true
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
