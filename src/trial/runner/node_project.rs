//! JavaScript and TypeScript in a project: its tests file, run by the project's own runner in a copy of the project.
//!
//! Each runner gets a reporter of ours, which comes up before all other code and reports each test by name on a pipe of ours. Tests and
//! candidate share its process, or what it starts.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::Serialize;
use serde_json::Value;

use super::super::project::{Copy, Project};
use super::super::toolchain::Tool;
use super::super::{Limits, Status, Trial, TrialError, Verdict};
use super::command::split;
use super::names::read;
use super::project::{Projects, guard};
use super::{driver, javascript, nonce};
use crate::language::Language;
use crate::sandbox::{Ended, Job, Run, Sandbox, Scratch};
use crate::untrusted::clean_line;

const RECORD: &str = include_str!("project/record.js");

/// Waits until node's runner has taken the reporter, before the code under test is loaded.
const WAIT: &str = "import report from './report.cjs';\nawait report.ready;\n";

/// The reporter as a module of the newer kind, which is what vitest takes.
const MODULE: &str =
    "import { createRequire } from 'node:module';\nexport default createRequire(import.meta.url)('./report.cjs');\n";

/// A program that runs tests.
#[derive(Debug)]
struct Row {
    /// Its name, also that of its package.
    name: &'static str,
    /// What tests for it import.
    imports: &'static [&'static str],
    /// Its part of the reporter.
    reporter: &'static str,
    /// What it is told; `{folder}` is that of the reporter. The tests file comes last.
    arguments: &'static [&'static str],
    /// Options of the project's test script that are its own and are kept, each with a value.
    kept: &'static [&'static str],
}

/// Node's own runner is the last: it needs no package.
const ROWS: &[Row] = &[
    Row {
        name: "vitest",
        imports: &["vitest"],
        reporter: include_str!("project/vitest.js"),
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
        reporter: include_str!("project/jest.js"),
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
        reporter: include_str!("project/mocha.js"),
        arguments: &["--no-color", "--reporter={folder}/report.cjs"],
        kept: &["--config", "--ui", "-u"],
    },
    Row { name: "node", imports: &["node:test"], reporter: include_str!("project/node.js"), arguments: &[], kept: &[] },
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
struct Plan {
    row: &'static Row,
    /// The program of the runner, relative to the root; node's own has none.
    program: Option<PathBuf>,
    /// Options of node.
    node: Vec<String>,
    /// Options of the runner.
    runner: Vec<String>,
}

/// Runs a tests file of a project with the candidate in it.
pub fn run(
    sandbox: &Sandbox,
    node: &Tool,
    projects: &Projects,
    project: &Project,
    trial: &Trial,
    cancel: &AtomicBool,
) -> Result<Verdict, TrialError> {
    let failed = |e: std::io::Error| TrialError::Sandbox(format!("the tests could not be laid out: {e}"));
    let tests = project.tests.clone().unwrap_or_default();
    let plan = Plan::of(project, &fs::read_to_string(project.root.join(&tests)).map_err(failed)?)?;
    let (major, minor) = node.version;
    if plan.row.name == "node" {
        if major < 20 {
            return Err(TrialError::Interpreter(format!(
                "tests for node:test need node 20 or newer, and {} is {major}.{minor}: install a newer one, or give the tests as --test-command",
                node.program.display()
            )));
        }
        // What the project loads into node may remove the types.
        if !plan.node.iter().any(|option| option.starts_with("--import") || option.starts_with("--loader")) {
            javascript::check(node, trial.language)?;
        }
    }
    // Tools of a project start threads, write more than a function does, and reserve far more addresses than they use.
    let least = if plan.program.is_some() { 4 << 30 } else { 2 << 30 };
    let limits = Limits {
        file: trial.limits.file.max(64 << 20),
        memory: trial.limits.memory.max(least),
        processes: trial.limits.processes.max(128),
        ..trial.limits
    };
    let reporter = Scratch::new().map_err(failed)?;
    fs::write(reporter.path().join("report.cjs"), [RECORD, plan.row.reporter].concat()).map_err(failed)?;
    fs::write(reporter.path().join("wait.mjs"), WAIT).map_err(failed)?;
    fs::write(reporter.path().join("report.mjs"), MODULE).map_err(failed)?;
    let base = projects.base(project)?;
    let reporter = reporter.path();
    let runs = Runs { sandbox, node, plan: &plan, reporter, project, language: trial.language, limits, cancel };
    let baseline = projects.baseline(project, &base, cancel, |copy| {
        let (run, nonce) = runs.once(copy)?;
        Ok(read(&run.record, &nonce))
    })?;
    let copy = base.copy(project, Some(&trial.program)).map_err(TrialError::Sandbox)?;
    let (run, nonce) = runs.once(&copy)?;
    let verdict = baseline.verdict(&run, &nonce, &limits)?;
    let verdict = match (run.ended, complaint(&run.output).filter(|_| run.record.is_empty())) {
        (Ended::Exited(1..), Some(message)) => Verdict { status: Status::Error, message, ..verdict },
        _ => verdict,
    };
    Ok(guard(verdict, &base, project, &copy))
}

#[derive(Serialize)]
struct Request<'a> {
    nonce: &'a str,
}

/// What all runs of a trial share.
struct Runs<'a> {
    sandbox: &'a Sandbox,
    node: &'a Tool,
    plan: &'a Plan,
    /// The folder of the reporter.
    reporter: &'a Path,
    project: &'a Project,
    language: Language,
    limits: Limits,
    cancel: &'a AtomicBool,
}

impl Runs<'_> {
    /// Runs the tests in a copy of the project.
    fn once(&self, copy: &Copy) -> Result<(Run, String), TrialError> {
        let Self { sandbox, node, plan, reporter, project, language, limits, cancel } = *self;
        let nonce = nonce()?;
        let report = reporter.join("report.cjs").display().to_string();
        let folder = copy.path().join(&project.package);
        let tests = project.tests.clone().unwrap_or_default();
        let tests = copy.path().join(tests).display().to_string();
        // First of all, so that nothing of the project's comes before it.
        let mut arguments: Vec<String> = ["--no-warnings", "--require", &report].map(str::to_owned).to_vec();
        if node.version >= (20, 15) {
            // WebAssembly would else reserve more addresses than a trial may have.
            arguments.push("--disable-wasm-trap-handler".to_owned());
        }
        if plan.program.is_none() {
            arguments.push(format!("--import=file://{}", reporter.join("wait.mjs").display()));
            arguments.push(format!("--test-reporter={report}"));
            let asks = language == Language::TypeScript && ((22, 13)..(22, 18)).contains(&node.version);
            arguments.extend(asks.then(|| "--experimental-strip-types".to_owned()));
        }
        arguments.extend(plan.node.clone());
        if let Some(program) = &plan.program {
            arguments.push(copy.path().join(program).display().to_string());
            arguments.extend(
                plan.row.arguments.iter().map(|word| word.replace("{folder}", &reporter.display().to_string())),
            );
            // Before the last, after which only tests files come.
            let at = arguments.len() - usize::from(plan.row.arguments.last() == Some(&"--runTestsByPath"));
            arguments.splice(at..at, plan.runner.clone());
        }
        arguments.push(tests);
        let readable = [node.readable.clone(), copy.readable.clone(), vec![reporter.to_path_buf()]].concat();
        let writable = [copy.path().to_path_buf()];
        let programs = node.program.parent().unwrap_or(Path::new("/usr/bin"));
        let environment: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display()).into()),
            // Node ends at once if it may not read the system's OpenSSL settings.
            ("OPENSSL_CONF".into(), "/dev/null".into()),
            ("CI".into(), "1".into()),
            ("NO_COLOR".into(), "1".into()),
        ];
        let job = Job {
            readable: &readable,
            writable: &writable,
            folder: Some(&folder),
            environment,
            ..driver(
                &node.program,
                arguments.into_iter().map(OsString::from).collect(),
                serde_json::to_vec(&Request { nonce: &nonce }).unwrap_or_default(),
                limits,
            )
        };
        Ok((sandbox.run(job, cancel).map_err(TrialError::Sandbox)?, nonce))
    }
}

impl Plan {
    /// From the text of the tests, and the `package.json` of their package or of one around it.
    fn of(project: &Project, tests: &str) -> Result<Self, TrialError> {
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

/// Which runner: what the tests import, else what the test script starts, else what is installed for development.
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

/// What the first error said that nobody caught, and where it was.
fn complaint(output: &str) -> Option<String> {
    let is_error = |line: &&str| {
        let kind = line.split([':', ' ']).next().unwrap_or_default();
        kind.ends_with("Error") && kind.chars().all(char::is_alphanumeric) && line.contains(": ")
    };
    let error = output.lines().map(str::trim).find(is_error)?;
    // Above the error, on a line of its own.
    let place = output.lines().filter(|line| line.starts_with("file://") || line.starts_with('/')).find_map(|line| {
        let (path, number) = line.rsplit_once(':')?;
        let number: u32 = number.parse().ok()?;
        Some(format!(" ({}:{number})", path.rsplit('/').next().unwrap_or_default()))
    });
    Some(clean_line(&format!("{error}{}", place.unwrap_or_default()), 400))
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
    fn an_error_that_nobody_caught_is_found_in_what_node_prints() {
        let output = "hello: you\nfile:///tmp/x/f.mjs:2\n\n\n\nSyntaxError: Unexpected end of input\n    at compile (node:internal/x:346:16)\n\nNode.js v20.20.2\n";
        assert_eq!(complaint(output).unwrap(), "SyntaxError: Unexpected end of input (f.mjs:2)");
        assert_eq!(complaint("node:internal/harness:46\n      throw err;\n\nError: boom\n").unwrap(), "Error: boom");
        assert_eq!(complaint("Errors: none\nall is well\n"), None);
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
