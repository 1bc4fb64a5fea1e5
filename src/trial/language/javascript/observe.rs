//! JavaScript and TypeScript: calls of the function in a copy of the project, one process for each candidate.
//!
//! The copy's file gets a last line, which hands an evaluator of the module's scope to the observer
//! (`observer/`). So a function need not be exported to be called.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::{check, runner, script, types};
use crate::language::Language;
use crate::sandbox::{Job, Limits, Scratch};
use crate::trial::language::row::{Context, Input, Observed, Project, Tool, Trial, TrialError, driver, nonce, observe};
use crate::trial::project::packages;

/// The program that makes the calls.
const OBSERVER: &str = concat!(
    include_str!("observer/form.js"),
    include_str!("observer/compiled.js"),
    include_str!("observer/observe.js")
);

/// The compilers that `observer/compiled.js` uses.
const COMPILERS: [&str; 2] = ["typescript", "esbuild"];

#[derive(Serialize)]
struct Request<'a> {
    /// The file with the candidate.
    file: &'a Path,
    /// The name of the global that its last line calls. The candidate does not know it.
    entrance: &'a str,
    /// True if it is loaded by `require`.
    requires: bool,
    inputs: &'a [Input],
}

/// See [`crate::trial::language::TrialLanguage::observe`].
pub fn run(
    at: &Context,
    node: &Tool,
    trial: &Trial,
    project: &Project,
    inputs: &[Input],
) -> Result<Vec<Observed>, TrialError> {
    let options = options(node, project)?;
    let entrance = format!("observer{}", nonce()?);
    // Threads of the candidate's have no observer.
    let last = format!("typeof {entrance} === 'function' && {entrance}(function () {{ return eval(arguments[0]); }})");
    let program = format!("{}\n;{last};\n", trial.program);
    let base = at.projects.base(project)?;
    let copy = base.copy(project, Some(&program)).map_err(TrialError::Sandbox)?;
    let packages = runner::packages_outside(project, None).filter(|_| project.lone.is_some());
    if let Some(packages) = &packages {
        packages::open(packages, &copy.path().join("node_modules"), &|_| None)?;
    }
    let folder = Scratch::new()?;
    let observer = folder.path().join("observe.cjs");
    fs::write(&observer, OBSERVER)?;
    let file = copy.path().join(&project.file);
    let readable = [&node.readable[..], &[folder.path().to_path_buf()], packages.as_slice()].concat();
    let limits = Limits {
        file: trial.limits.file.max(super::project::FILE),
        memory: trial.limits.memory.max(super::project::MEMORY),
        ..trial.limits
    };
    let arguments: Vec<OsString> = ["--no-warnings"]
        .into_iter()
        .chain(super::project::without_traps(node))
        .chain(options.iter().copied())
        .map(OsString::from)
        .chain([observer.into_os_string()])
        .collect();
    let requires = types::are_read_by_require(&options.iter().map(|&option| option.to_owned()).collect::<Vec<_>>());
    observe(inputs, limits, |inputs, limits| {
        let request = Request { file: &file, entrance: &entrance, requires, inputs };
        let mut line = serde_json::to_vec(&request).unwrap_or_default();
        line.push(b'\n');
        let environment = vec![("PATH".into(), node.path().into()), ("OPENSSL_CONF".into(), "/dev/null".into())];
        let job = Job { environment, ..driver(&node.program, arguments.clone(), line, limits) };
        at.run_in(&copy, &project.package, &readable, &[], job)
    })
}

/// The options of node that have it read the file. Types are removed by a package of the project, else by
/// node, else by the project's compiler.
fn options(node: &Tool, project: &Project) -> Result<Vec<&'static str>, TrialError> {
    let ending = project.file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let has_elements = ["jsx", "tsx"].contains(&ending);
    if !has_elements && Language::of_path(&project.file) != Some(Language::TypeScript) {
        return Ok(Vec::new());
    }
    let folders: Vec<_> = project.file.ancestors().skip(1).map(|folder| project.root.join(folder)).collect();
    let installed = |name: &str| folders.iter().any(|folder| folder.join("node_modules").join(name).is_dir());
    let mut manifests = folders.iter().flat_map(|folder| script::manifests(folder));
    let kind = manifests.find_map(|manifest| manifest["type"].as_str().map(str::to_owned));
    if let Some(options) = types::loader(kind.as_deref() == Some("module"), installed) {
        return Ok(options.to_vec());
    }
    if !COMPILERS.iter().any(|name| installed(name)) {
        if has_elements {
            return Err(TrialError::Interpreter(format!(
                "node does not read JSX by itself: install tsx or typescript for {}",
                project.file.display()
            )));
        }
        check(node, Language::TypeScript)?;
    }
    Ok(types::option_of_node(node.version, project.lone.is_some()).into_iter().collect())
}
