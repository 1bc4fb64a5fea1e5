//! Tests that load what a script makes of the code, such as `build/`. Trials run no such script, so the tests
//! see no candidate.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::script;
use crate::files;
use crate::trial::language::row::Project;
use crate::trial::project::imports::{imported_paths, relative_to};

/// Scripts that may make files of the code, the one that npm runs before the tests first.
const SCRIPTS: &[&str] = &["pretest", "build", "compile", "prepare", "prepack", "prepublishOnly"];
/// Words of commands that do.
const TOOLS: &[&str] = &[
    "tsc", "rollup", "esbuild", "webpack", "babel", "tsup", "vite", "swc", "parcel", "microbundle", "unbuild", "tshy",
    "browserify", "build", "compile",
];

/// A sentence about tests that load a file which a script makes of the code.
pub fn loaded(project: &Project) -> Option<String> {
    let tests = project.tests.as_deref()?;
    let text = files::text(&project.root.join(tests), files::TEXT).ok()?;
    let manifests = tests.ancestors().skip(1).flat_map(|folder| script::manifests(&project.root.join(folder)));
    let script = manifests.into_iter().find_map(|manifest| making(&manifest))?;
    let known = project.files().ok()?;
    let is_made = |path: &Path| {
        let is_written = |file: &&PathBuf| {
            file.starts_with(path)
                || file.with_extension("") == path
                || file.with_extension("") == path.with_extension("")
        };
        let mut folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        !path.iter().any(|part| part == "node_modules")
            && (!known.iter().any(|file| is_written(&file))
                || folders.any(|folder| Project::is_made(&project.root.join(folder))))
    };
    let made = imported_paths(&text).map(|path| relative_to(tests, path)).find(|path| is_made(path))?;
    let command = match script {
        "pretest" => "'npm test'".to_owned(),
        other => format!("\"sh -c 'npm run {other} && npm test'\""),
    };
    Some(format!(
        "{} loads {}, which the script `{script}` makes of the code and a trial does not make anew: give --test-command {command}",
        tests.file_name().unwrap_or_default().to_string_lossy(),
        made.display()
    ))
}

/// The script of a manifest that makes files of the code.
fn making(manifest: &Value) -> Option<&'static str> {
    let makes = |name: &&&str| {
        let text = manifest["scripts"][**name].as_str().unwrap_or_default();
        let mut words = text.split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_'));
        words.any(|word| TOOLS.contains(&word))
    };
    SCRIPTS.iter().find(makes).copied()
}
