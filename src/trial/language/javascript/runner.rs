//! The programs that run tests of JavaScript: a table, and which of them a project uses.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::trial::language::command::split;
use crate::trial::language::row::{Project, TrialError};

/// A program that runs tests.
#[derive(Debug)]
pub struct Row {
    /// Its name, also that of its package.
    pub name: &'static str,
    /// What tests for it import.
    pub imports: &'static [&'static str],
    /// Its part of the reporter.
    pub reporter: &'static str,
    /// What it is told; `{folder}` is that of the reporter. The tests file comes last.
    pub arguments: &'static [&'static str],
    /// Options of the project's test script that are its own and are kept, each with a value.
    pub kept: &'static [&'static str],
}

/// Node's own runner is the last: it needs no package.
pub const ROWS: &[Row] = &[
    Row {
        name: "vitest",
        imports: &["vitest"],
        reporter: include_str!("reporter/vitest.js"),
        arguments: &[
            "run",
            "--reporter={folder}/report.mjs",
            "--coverage.enabled=false",
            "--pool=threads",
            "--maxWorkers=1",
        ],
        kept: &["--config", "-c", "--project", "--environment"],
    },
    Row {
        name: "jest",
        imports: &["@jest/globals"],
        reporter: include_str!("reporter/jest.js"),
        // Its workers are processes of their own, and its watcher a service.
        arguments: &[
            "--ci",
            "--runInBand",
            "--watchman=false",
            "--coverage=false",
            "--reporters={folder}/report.cjs",
            "--runTestsByPath",
        ],
        kept: &["--config", "-c", "--env"],
    },
    Row {
        name: "mocha",
        imports: &["mocha"],
        reporter: include_str!("reporter/mocha.js"),
        arguments: &["--no-color", "--reporter={folder}/report.cjs"],
        kept: &["--config", "--ui", "-u"],
    },
    Row {
        name: "node",
        imports: &["node:test"],
        reporter: include_str!("reporter/node.js"),
        arguments: &[],
        kept: &[],
    },
];

/// Options of node itself that are kept from the project's test script; those that end in `=` have a value.
const NODE_OPTIONS: &[&str] = &[
    "--experimental-vm-modules",
    "--experimental-strip-types",
    "--experimental-transform-types",
    "--experimental-test-module-mocks",
    "--enable-source-maps",
    "--no-warnings",
    "--import=",
    "--require=",
    "-r=",
    "--loader=",
    "--experimental-loader=",
    "--conditions=",
    "-C=",
];

/// How the tests of a project are run.
#[derive(Debug)]
pub struct Plan {
    pub row: &'static Row,
    /// The program of the runner, relative to the root; node's own has none.
    pub program: Option<PathBuf>,
    /// Options of node.
    pub node: Vec<String>,
    /// Options of the runner.
    pub runner: Vec<String>,
}

impl Plan {
    /// From the text of the tests, and the `package.json` of their package or of one around it.
    pub fn of(project: &Project, tests: &str) -> Result<Self, TrialError> {
        let folders = || project.package.ancestors();
        let manifests: Vec<Value> = folders()
            .filter_map(|folder| fs::read_to_string(project.root.join(folder).join("package.json")).ok())
            .filter_map(|text| serde_json::from_str(&text).ok())
            .collect();
        let script = manifests.iter().find_map(|manifest| manifest["scripts"]["test"].as_str()).unwrap_or_default();
        let words = split(script).unwrap_or_default();
        let row = row(tests, &words, &manifests);
        let program = if row.name == "node" {
            None
        } else {
            let found = folders()
                .find_map(|folder| program_of(&project.root, &folder.join("node_modules").join(row.name), row));
            Some(found.ok_or_else(|| {
                TrialError::Interpreter(format!(
                    "the tests are for {0}, and there is no node_modules/{0} in {1}: install the project's packages there, or give the tests as --test-command",
                    row.name,
                    project.root.join(&project.package).display()
                ))
            })?)
        };
        Ok(Self { row, program, node: node_options(&words), runner: valued(&words, row.kept) })
    }
}

/// Which runner: what the tests import, else what the test script starts, else what is installed for
/// development.
fn row(tests: &str, script: &[String], manifests: &[Value]) -> &'static Row {
    let imports = || tests.lines().filter(|line| ["import", "from ", "require"].iter().any(|word| line.contains(word)));
    let imported = |row: &&Row| {
        let stands_in =
            |line: &str, name: &str| [format!("'{name}'"), format!("\"{name}\"")].iter().any(|n| line.contains(n));
        row.imports.iter().any(|name| imports().any(|line| stands_in(line, name)))
    };
    let started = |row: &&Row| {
        script.iter().any(|word| {
            let stem = Path::new(word).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            stem.trim_start_matches('_') == row.name
                && (row.name != "node" || script.iter().any(|word| word == "--test"))
        })
    };
    let installed = |row: &&Row| {
        let has = |manifest: &Value, part: &str| manifest[part].get(row.name).is_some();
        manifests.iter().any(|manifest| ["devDependencies", "dependencies"].iter().any(|part| has(manifest, part)))
    };
    let by = |test: &dyn Fn(&&Row) -> bool| ROWS.iter().find(test);
    by(&imported).or_else(|| by(&started)).or_else(|| by(&installed)).unwrap_or(&ROWS[ROWS.len() - 1])
}

/// The program of an installed runner, relative to the root.
fn program_of(root: &Path, package: &Path, row: &Row) -> Option<PathBuf> {
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(root.join(package).join("package.json")).ok()?).ok()?;
    let program = manifest["bin"].as_str().or_else(|| manifest["bin"][row.name].as_str())?;
    Some(package.join(program.trim_start_matches("./"))).filter(|path| root.join(path).is_file())
}

/// The options of node in a test script, also those in its `NODE_OPTIONS`.
fn node_options(words: &[String]) -> Vec<String> {
    let words: Vec<String> = words
        .iter()
        .flat_map(|word| match word.strip_prefix("NODE_OPTIONS=") {
            Some(options) => options.split_whitespace().map(str::to_owned).collect(),
            None => vec![word.clone()],
        })
        .collect();
    let plain = words.iter().filter(|word| NODE_OPTIONS.contains(&word.as_str())).cloned();
    let with_value: Vec<&str> = NODE_OPTIONS.iter().filter_map(|option| option.strip_suffix('=')).collect();
    plain.chain(valued(&words, &with_value)).collect()
}

/// The options of these names with their values, given as `--a=b` or as `--a b`.
fn valued(words: &[String], names: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (i, word) in words.iter().enumerate() {
        let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        let value = value.or_else(|| words.get(i + 1).map(String::as_str));
        if let Some(value) = value.filter(|_| names.contains(&name)) {
            found.extend([name.to_owned(), value.to_owned()]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(script: &str) -> Vec<String> {
        split(script).unwrap()
    }

    #[test]
    fn the_runner_is_what_the_tests_import_then_what_the_script_starts_then_what_is_installed() {
        let manifest = |text: &str| vec![serde_json::from_str::<Value>(text).unwrap()];
        let both = manifest(r#"{"devDependencies":{"mocha":"1","jest":"1"}}"#);
        let name = |tests, script, manifests: &[Value]| row(tests, &words(script), manifests).name;
        assert_eq!(name("import test from 'node:test'", "vitest", &both), "node");
        assert_eq!(name("import { test } from \"vitest\"", "jest", &both), "vitest");
        assert_eq!(name("it('vitest', f)", "jest", &both), "jest");
        assert_eq!(name("", "cross-env A=1 mocha --recursive", &both), "mocha");
        assert_eq!(name("", "node node_modules/jest/bin/jest.js", &both), "jest");
        assert_eq!(name("", "node --import tsx --test", &both), "node");
        assert_eq!(name("", "node build.js", &both), "jest");
        assert_eq!(name("", "echo", &manifest("{}")), "node");
    }

    #[test]
    fn options_that_the_tests_need_are_kept_and_no_others() {
        let script = "NODE_OPTIONS='--experimental-vm-modules --max-old-space-size=9' node --import tsx -r ./a.js --test --watch jest --config=x.json --coverage -c y";
        let script = words(script);
        assert_eq!(node_options(&script), ["--experimental-vm-modules", "--import", "tsx", "-r", "./a.js"]);
        assert_eq!(valued(&script, ROWS[1].kept), ["--config", "x.json", "-c", "y"]);
        assert_eq!(valued(&words("mocha --ui"), ROWS[2].kept), Vec::<String>::new());
    }
}
