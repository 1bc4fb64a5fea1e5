//! The programs that run tests of JavaScript: a table, and which of them a project uses.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::script::{self, Command};
use super::types;
use crate::language::Language;
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
    /// Its option for a pattern that the titles of tests have to match, joined by blanks.
    by_title: Option<&'static str>,
}

/// What runs a tests file that node is started with and nothing else.
pub const SCRIPT: &str = "a plain script";

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
        by_title: Some("--testNamePattern"),
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
        by_title: Some("--testNamePattern"),
    },
    Row {
        name: "mocha",
        imports: &["mocha"],
        reporter: include_str!("reporter/mocha.js"),
        arguments: &["--no-color", "--reporter={folder}/report.cjs", "--file={folder}/begin.cjs"],
        kept: &["--config", "--ui", "-u"],
        by_title: Some("--grep"),
    },
    Row {
        name: SCRIPT,
        imports: &["tape", "uvu"],
        reporter: include_str!("reporter/script.js"),
        arguments: &[],
        kept: &[],
        by_title: None,
    },
    Row {
        name: "node",
        imports: &["node:test"],
        reporter: include_str!("reporter/node.js"),
        arguments: &[],
        kept: &[],
        // It knows the title of each part alone.
        by_title: None,
    },
];

/// Programs and packages of tests that cannot be run here.
const OTHERS: &[&str] = &["ava", "tap", "bun:test", "jasmine", "qunit", "@std/testing", "jsr:@std/testing"];

/// How the tests of a project are run.
#[derive(Debug)]
pub struct Plan {
    pub row: &'static Row,
    /// The program of the runner, relative to the root; node's own has none.
    pub program: Option<PathBuf>,
    /// The folder of the tests' package, relative to the root.
    pub folder: PathBuf,
    /// Options of node.
    pub node: Vec<String>,
    /// Options of the runner.
    pub runner: Vec<String>,
}

impl Plan {
    /// From the text of the tests, and the `package.json` of their package or of one around it.
    /// `removes_types`: whether node is known to do that by itself.
    pub fn of(project: &Project, tests: &str, removes_types: bool) -> Result<Self, TrialError> {
        let tests_file = project.tests.as_deref().unwrap_or(&project.file);
        let folders = || tests_file.ancestors().skip(1);
        let manifest = |folder: &Path| -> Option<Value> {
            let text = fs::read_to_string(project.root.join(folder).join("package.json")).ok()?;
            serde_json::from_str(&text).ok()
        };
        let found: Vec<(&Path, Value)> = folders().filter_map(|folder| Some((folder, manifest(folder)?))).collect();
        // A manifest without a name or scripts only says of which kind the modules beside it are.
        let own = found.iter().find(|(_, own)| own.get("name").or(own.get("scripts")).is_some()).or(found.first());
        let folder = own.map_or(project.package.clone(), |(folder, _)| folder.to_path_buf());
        let manifests: Vec<&Value> = found.iter().map(|(_, manifest)| manifest).collect();
        let commands = script::commands(&manifests);
        let file = tests_file.strip_prefix(&folder).unwrap_or(tests_file);
        let row = row((tests, file), &commands, &manifests).map_err(|name| {
            let program = folders().map(|folder| folder.join("node_modules/.bin").join(name));
            let program = program.filter_map(|path| Some(path.strip_prefix(&folder).ok()?.to_path_buf()));
            let program = program.into_iter().find(|path| project.root.join(&folder).join(path).exists());
            let file = file.display();
            let command = program.map_or_else(|| "with the command that runs them".to_owned(), |program| format!("'{} {file}'", program.display()));
            TrialError::Interpreter(format!(
                "the tests are for {name}, and only those for vitest, jest, mocha, tape, uvu and node:test, and scripts that node is started with, can be run: give --test-command {command}"
            ))
        })?;
        let program = if ["node", SCRIPT].contains(&row.name) {
            None
        } else {
            let found = folders()
                .find_map(|folder| program_of(&project.root, &folder.join("node_modules").join(row.name), row));
            Some(found.ok_or_else(|| {
                TrialError::Interpreter(format!(
                    "the tests are for {0}, and there is no node_modules/{0} in {1}: install the project's packages there, or give the tests as --test-command",
                    row.name,
                    project.root.join(&folder).display()
                ))
            })?)
        };
        let is_started = |command: &&Command| match row.name {
            SCRIPT => script::is_run_by(command, file) || row.imports.iter().any(|name| script::starts(command, name)),
            name => script::starts(command, name),
        };
        let starting: Vec<&Command> = commands.iter().filter(is_started).collect();
        let node = starting.iter().flat_map(|command| script::node_options(command)).collect();
        let runner = starting.iter().flat_map(|command| script::valued(command, row.kept)).collect();
        if row.name == SCRIPT && ends_itself(tests) {
            let file = tests_file.strip_prefix(&folder).unwrap_or(tests_file).display();
            return Err(TrialError::Interpreter(format!(
                "{file} ends its process itself (process.exit), which cannot be told from code that does: let it come to its end, or give --test-command 'node {file}'"
            )));
        }
        let mut plan = Self { row, program, folder, node, runner };
        let is_typed = [tests_file, &project.file].iter().any(|f| Language::of_path(f) == Some(Language::TypeScript));
        if is_typed && matches!(row.name, "node" | "mocha" | SCRIPT) && !plan.reads_types(&project.root) {
            let installed =
                |name: &str| folders().any(|folder| project.root.join(folder).join("node_modules").join(name).is_dir());
            let is_module = manifests.iter().find_map(|manifest| manifest["type"].as_str()) == Some("module");
            // A script that starts node alone counts on it.
            let is_left_to_node = row.name == "node" && removes_types && !starting.is_empty();
            let loader = (!is_left_to_node).then(|| types::loader(is_module, installed)).flatten();
            plan.node.extend(loader.into_iter().flatten().map(|&option| option.to_owned()));
        }
        Ok(plan)
    }

    /// What has the runner leave out other tests than these; which are meant is the reporter's to say.
    pub fn by_title(&self, only: &[String]) -> Option<String> {
        let escaped = |title: &String| {
            let title = title.replace(" > ", " ");
            title
                .chars()
                .flat_map(|c| (!c.is_alphanumeric() && c != ' ').then_some('\\').into_iter().chain([c]))
                .collect()
        };
        let titles: Vec<String> = only.iter().map(escaped).collect();
        Some(format!("{}={}", self.row.by_title?, titles.join("|"))).filter(|_| !only.is_empty())
    }

    /// Whether something else than node itself removes the types.
    pub fn reads_types(&self, root: &Path) -> bool {
        match self.row.name {
            "node" | SCRIPT => types::are_read_with(&self.node),
            "mocha" => types::are_read_with(&self.node) || types::are_read_by_mocha(&root.join(&self.folder)),
            _ => true,
        }
    }
}

/// Whether a script may end its process with 0 before it comes to its end.
fn ends_itself(tests: &str) -> bool {
    let mut calls = tests.split("process.exit(").skip(1);
    calls.any(|rest| !rest.trim_start().starts_with(|c: char| ('1'..='9').contains(&c)))
}

/// Which runner: what the tests import, else what the test script starts, else what is installed for
/// development. Or the name of one that is not in the table.
fn row((tests, file): (&str, &Path), commands: &[Command], manifests: &[&Value]) -> Result<&'static Row, &'static str> {
    let imports = || tests.lines().filter(|line| ["import", "from ", "require"].iter().any(|word| line.contains(word)));
    let imported = |row: &&Row| {
        let stands_in =
            |line: &str, name: &str| [format!("'{name}'"), format!("\"{name}\"")].iter().any(|n| line.contains(n));
        row.imports.iter().any(|name| imports().any(|line| stands_in(line, name)))
    };
    let started = |row: &&Row| commands.iter().any(|command| script::starts(command, row.name));
    let installed = |row: &&Row| {
        let has = |manifest: &Value, part: &str| manifest[part].get(row.name).is_some();
        manifests.iter().any(|manifest| ["devDependencies", "dependencies"].iter().any(|part| has(manifest, part)))
    };
    let by = |test: &dyn Fn(&&Row) -> bool| ROWS.iter().find(test);
    if let Some(row) = by(&imported) {
        return Ok(row);
    }
    let other = OTHERS.iter().find(|name| {
        imports().any(|line| {
            ["'", "\""].iter().any(|quote| {
                line.contains(&format!("{quote}{name}{quote}")) || line.contains(&format!("{quote}{name}/"))
            })
        })
    });
    if let Some(name) = other {
        return Err(name);
    }
    if commands.iter().any(|command| script::is_run_by(command, file)) {
        return by(&|row| row.name == SCRIPT).ok_or(SCRIPT);
    }
    Ok(by(&started).or_else(|| by(&installed)).unwrap_or(&ROWS[ROWS.len() - 1]))
}

/// The program of an installed runner, relative to the root.
fn program_of(root: &Path, package: &Path, row: &Row) -> Option<PathBuf> {
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(root.join(package).join("package.json")).ok()?).ok()?;
    let program = manifest["bin"].as_str().or_else(|| manifest["bin"][row.name].as_str())?;
    Some(package.join(program.trim_start_matches("./"))).filter(|path| root.join(path).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_that_may_end_itself_is_known() {
        for text in ["process.exit()", "x => process.exit(0)", "process.exit(failed ? 1 : 0)", "process.exit( code )"] {
            assert!(ends_itself(text), "{text}");
        }
        assert!(!ends_itself("if (failed) process.exit(1);\nprocess.exitCode = 0"));
    }

    #[test]
    fn the_runner_is_what_the_tests_import_then_what_the_script_starts_then_what_is_installed() {
        let both = r#""devDependencies":{"mocha":"1","jest":"1"}"#;
        let find = |tests: &str, script: &str, more: &str| {
            let manifest =
                format!("{{\"scripts\":{{\"test\":{script:?}}}{}{more}}}", if more.is_empty() { "" } else { "," });
            let manifest: Value = serde_json::from_str(&manifest).unwrap();
            row((tests, Path::new("test/a.js")), &script::commands(&[&manifest]), &[&manifest])
        };
        for (tests, script, more, name) in [
            ("import test from 'node:test'", "vitest", both, "node"),
            ("import { test } from \"vitest\"", "jest", both, "vitest"),
            ("it('vitest', f)", "jest", both, "jest"),
            ("", "cross-env A=1 mocha --recursive", both, "mocha"),
            ("", "node node_modules/jest/bin/jest.js", both, "jest"),
            ("", "node --import tsx --test", both, "node"),
            ("", "tsx --test", both, "node"),
            ("", "node build.js", both, "jest"),
            ("", "echo", "", "node"),
            ("const test = require('tape')", "nyc tape test/*.js", both, SCRIPT),
            ("import * as assert from 'uvu/assert'; import { test } from 'uvu'", "uvu", both, SCRIPT),
            ("assert(1)", "mocha && node -r ./b ./test/a.js", both, SCRIPT),
            ("assert(1)", "node test/a", "", SCRIPT),
            ("assert(1)", "node test/b.js", "", "node"),
        ] {
            assert_eq!(find(tests, script, more).unwrap().name, name, "{script}");
        }
        assert_eq!(find("const test = require('ava')", "ava test/*.js", both).unwrap_err(), "ava");
    }
}
