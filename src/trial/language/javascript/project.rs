//! JavaScript and TypeScript in a project: its tests file, run by the project's own runner in a copy of the
//! project.
//!
//! Each runner gets our reporter, which is loaded before all other code and reports each test by name on a
//! separate pipe. Bun and deno report the tests themselves. Tests and candidate share the runner's process or
//! its child processes.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::string::FromUtf8Error;

use serde::Serialize;

use super::runner::{self, Given, Plan, SCRIPT};
use super::runtime::Runtime;
use super::{REMOVES_TYPES, Tools, check, junit, runtime, script, types};
use crate::files;
use crate::language::Language;
use crate::sandbox::{ADDRESSES, Ended, Job, Limits, Run, Scratch};
use crate::trial::judge::record::Names;
use crate::trial::language::row::{
    BaselineCache, Context, Evidence, Outcome, Project, Report, TestEnd, Tool, Trial, TrialError, Verdict, decide,
    driver, nonce,
};
use crate::trial::project::packages;
use crate::trial::project::runs::{self, Of, RunRequest};
use crate::untrusted::clean_line;

/// Least limits of a node process: memory, and the largest file that it writes, bytes.
pub const MEMORY: u64 = 2 << 30;
pub const FILE: u64 = 64 << 20;

/// The option without which WebAssembly reserves more addresses than a trial may have.
pub fn without_traps(node: &Tool) -> Option<&'static str> {
    (node.version >= (20, 15)).then_some("--disable-wasm-trap-handler")
}

/// Two bodies that tell whether tests have to do with the function: one ends the process, whoever would catch
/// what it raises; no test makes the same of what the other one returns as of nothing.
const PROBES: [&str; 2] = [
    "try { globalThis.process.kill(globalThis.process.pid, 'SIGKILL'); } finally { for (;;) {} }",
    "return new String('control');",
];

/// Parts of the reporter that all runners share.
const FIRST: [&str; 3] =
    [include_str!("reporter/memory.js"), include_str!("reporter/watch.js"), include_str!("reporter/record.js")];

/// The files beside the reporter.
const FILES: &[(&str, &str)] = &[
    // For threads, which do not load the reporter.
    ("memory.cjs", FIRST[0]),
    // Waits until node's runner has loaded the reporter, before the code under test is loaded.
    ("wait.mjs", "import report from './report.cjs';\nawait report.ready;\n"),
    // The reporter as an ES module, which vitest requires. Newer versions of vitest read files from outside
    // of the project only in package folders.
    (
        "node_modules/reporter/report.mjs",
        "import { createRequire } from 'node:module';\nexport default createRequire(import.meta.url)('../../report.cjs');\n",
    ),
    // Loads the tests as `CommonJS`. Otherwise node treats them as an ES module, as it does when anything is
    // imported first, and `require` hooks of the project would not apply.
    ("entry.cjs", "process.argv.splice(1, 1);\nrequire(process.argv[1]);\n"),
    // Loaded by mocha before all tests, and by jest before its own runner of a file.
    ("begin.cjs", "require('./report.cjs').begin?.();\n"),
    ("runner.cjs", "module.exports = require('./report.cjs').runner;\n"),
];

/// Settings in place of the runner's own.
const SETTINGS: &str = "settings.json";

/// Names for tests that import no file.
const NAMES: &str = include_str!("reporter/names.mjs");

/// Parses a tests file without running it. Errors in an ES module show only when it is loaded.
pub fn parse(at: &Context, node: &Tool, name: &str, text: &str) -> Result<(), TrialError> {
    if !Path::new(name).extension().is_some_and(|ending| ["js", "cjs", "mjs"].iter().any(|known| ending == *known)) {
        return Ok(());
    }
    let run = at.run_on(node, name, text, &["--check"])?;
    match complaint(&run.output).filter(|_| matches!(run.ended, Ended::Exited(1..))) {
        Some(what) => Err(TrialError::TestsDoNotParse(format!("{name}: {what}"))),
        None => Ok(()),
    }
}

/// The plan for running the tests of a project, and its program, if they can be run here.
pub fn plan<'a>(tools: &'a Tools, language: Language, project: &Project) -> Result<(Plan, &'a Tool), TrialError> {
    let tests = project.tests.clone().unwrap_or_default();
    let text = tests_of(project)?;
    let removes_types = || tools.node.get().is_ok_and(|node| node.version >= REMOVES_TYPES);
    let plan = Plan::of(project, &text, removes_types)?;
    let tool = tools.of(plan.row).map_err(|error| match (plan.row.runtime, error) {
        (Some(_), TrialError::NoInterpreter { .. }) => TrialError::Interpreter(format!(
            "{} is run by {1}, and there is no {1} in PATH: install it, or give the tests as --test-command",
            tests.display(),
            plan.row.name
        )),
        (_, error) => error,
    })?;
    let (major, minor) = tool.version;
    if plan.program.is_none() && plan.row.runtime.is_none() {
        if major < 20 && plan.row.name == "node" {
            return Err(TrialError::Interpreter(format!(
                "tests for node:test need node 20 or newer, and {} is {major}.{minor}: install a newer one, or give the tests as --test-command",
                tool.program.display()
            )));
        }
        if !plan.reads_types(&project.root) {
            check(tool, language)?;
        }
    }
    Ok((plan, tool))
}

fn tests_of(project: &Project) -> Result<String, TrialError> {
    let path = project.root.join(project.tests.as_deref().unwrap_or(Path::new("")));
    fs::read_to_string(&path)
        .map_err(|e| TrialError::Sandbox(format!("the tests {} cannot be read: {e}", path.display())))
}

/// All code that is loaded before tests.
pub fn reporters() -> Vec<u8> {
    let rows = runner::ROWS.iter().chain([&runner::OLD_MOCHA]);
    let own = rows.flat_map(|row| [row.reporter].into_iter().chain(row.arguments.iter().copied()));
    let texts = FIRST.into_iter().chain([NAMES]).chain(FILES.iter().map(|(_, text)| *text)).chain(own);
    texts.collect::<Vec<_>>().concat().into_bytes()
}

/// Runs a tests file of a project with the candidate in it.
pub fn run(
    at: &Context,
    (tools, cache): (&Tools, Option<&BaselineCache>),
    trial: &Trial,
    project: &Project,
) -> Result<Verdict, TrialError> {
    if project.tests.as_ref() == Some(&project.file) {
        return Ok(Verdict::not_run("JavaScript has no doctests: give the tests as a file"));
    }
    let (plan, tool) = match plan(tools, trial.language, project) {
        Err(TrialError::Interpreter(why) | TrialError::Tests(why)) => return Ok(Verdict::not_run(&why)),
        other => other?,
    };
    // Tools of a project write more than a function does, and reserve far more addresses than they use.
    let least = if plan.program.is_some() { 4 << 30 } else { MEMORY };
    let limits = Limits { file: trial.limits.file.max(FILE), memory: trial.limits.memory.max(least), ..trial.limits };
    let reporter = Scratch::new()?;
    let whole = if plan.row.runtime.is_some() {
        let tests = serde_json::to_string(&tests_of(project)?).unwrap_or_default();
        format!("{}{}const tests = {tests};\n{}", FIRST[0], FIRST[1], plan.row.reporter)
    } else {
        [&FIRST[..], &[plan.row.reporter]].concat().concat()
    };
    let program = plan
        .given
        .has_program
        .then(|| format!("{}{}", "../".repeat(plan.folder.components().count()), project.file.display()));
    let told =
        [serde_json::to_string(&program), serde_json::to_string(&plan.given.names)].map(Result::unwrap_or_default);
    let names = format!("const program = {}, names = {};{NAMES}", told[0], told[1]);
    let settings = plan.settings.as_deref().map(|settings| (SETTINGS, settings));
    let made = [("report.cjs", whole.as_str()), ("names.mjs", names.as_str())].into_iter().chain(settings);
    for (name, text) in FILES.iter().copied().chain(made) {
        let path = reporter.path().join(name);
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        folder.and_then(|()| fs::write(path, text))?;
    }
    let reporter = reporter.path();
    let runs = NodeRuns { at, tool, plan: &plan, reporter, project, language: trial.language };
    let without = trial.with_body(super::THROWS);
    let probes = PROBES.map(|body| trial.with_body(body));
    let programs = runs::Programs {
        without: without.as_deref(),
        probes: match &probes {
            [Some(ending), Some(other)] => Some([ending, other]),
            _ => None,
        },
        candidate: &trial.program,
        own: trial.own(),
    };
    let once = |of: Of, asked: RunRequest, limits| {
        let (run, nonce) = match plan.row.runtime {
            None => runs.once(of, asked, limits),
            Some(runtime) => runs.once_in(runtime, of, asked.only, limits),
        }?;
        Ok((run, nonce))
    };
    let found = runs::evidence(at.projects, project, programs, at.bounds(limits, cache), once)?;
    let (evidence, limits) = match found {
        Ok(found) => found,
        Err(failure) => return Ok(Verdict::unreached(trial.entry_point.as_deref(), failure.as_deref())),
    };
    if is_passed_over(plan.row.name, &evidence) {
        let tests = project.tests.as_deref().unwrap_or(Path::new("")).display();
        return Ok(Verdict::not_run(&format!("by its settings {} does not run {tests}", plan.row.name)));
    }
    if plan.row.name == "vitest" && of_threads(&evidence) {
        let tests = project.tests.as_deref().unwrap_or(Path::new("")).display();
        return Ok(Verdict::not_run(&format!(
            "a test uses what node has not in threads, such as process.chdir, and vitest runs tests in threads here: give --test-command 'npx vitest run {tests}'"
        )));
    }
    // Packages of a workspace are loaded as what they were built into.
    let is_unbuilt = |said: &str| said.contains("Failed to resolve entry for package");
    let advice = |said: &str| if is_unbuilt(said) { " (build that package first, as for your own runner)" } else { "" };
    let unknown = || types::unknown_to_ts_jest(&project.root, &plan.folder).filter(|_| plan.row.name == "jest");
    let reason = || unknown().map_or_else(String::new, |why| format!(" ({why})"));
    let flags = match &plan.left_out[..] {
        [] => String::new(),
        all => format!(" (your script starts node with {}, which is left out here)", all.join(" ")),
    };
    let built = |said: &str| script::advice_to_build(said, &project.root.join(&plan.folder)).unwrap_or_default();
    let advised = |said: String| format!("{said}{}{}{}{flags}", advice(&said), built(&said), reason());
    let evidence = Evidence { complaint: evidence.complaint.map(advised), ..evidence };
    let evidence = match (&evidence.report, evidence.run.ended) {
        (Report::Tests { by, tests, is_whole }, _) if plan.row.name == SCRIPT => {
            let said = |test: &TestEnd| Some(not_ok(&evidence.run.output)?).filter(|_| test.outcome == Outcome::Failed);
            let tests =
                tests.iter().map(|test| TestEnd { why: said(test).unwrap_or(test.why.clone()), ..test.clone() });
            let report = Report::Tests { by: *by, tests: tests.collect(), is_whole: *is_whole };
            Evidence { report, ..evidence }
        }
        (Report::Missing, Ended::Exited(1..)) => {
            let said = complaint(&evidence.run.output).map(|said| format!("{said}{}{flags}", built(&said)));
            Evidence { complaint: said, ..evidence }
        }
        _ => evidence,
    };
    let verdict = decide(&evidence, &limits)?.by(if plan.row.name == "node" { "node:test" } else { plan.row.name });
    Ok(verdict.despite(plan.unheard().as_slice()))
}

/// Returns true if a runner did not take the file that it was given for a tests file. Older versions of
/// vitest end without a report then.
fn is_passed_over(runner: &str, evidence: &Evidence) -> bool {
    let said = || evidence.run.output.lines().any(|line| line == "No test files found, exiting with code 0");
    let is_empty = match &evidence.report {
        Report::Tests { tests, .. } => tests.is_empty() && evidence.complaint.is_none(),
        Report::Missing => said(),
        _ => false,
    };
    ["vitest", "jest"].contains(&runner) && evidence.run.ended == Ended::Exited(0) && is_empty
}

/// Returns true if the first test that fails does so as it is run in a thread.
fn of_threads(evidence: &Evidence) -> bool {
    let Report::Tests { tests, .. } = &evidence.report else { return false };
    let counts = |test: &&TestEnd| test.outcome == Outcome::Failed && !evidence.flaky.contains(&test.name);
    tests.iter().find(counts).is_some_and(|test| test.why.contains("is not supported in workers"))
}

#[derive(Serialize)]
struct Request<'a> {
    nonce: &'a str,
}

/// Parameters shared by all runs of a trial.
struct NodeRuns<'a> {
    at: &'a Context<'a>,
    tool: &'a Tool,
    plan: &'a Plan,
    /// The folder of the reporter.
    reporter: &'a Path,
    project: &'a Project,
    language: Language,
}

impl NodeRuns<'_> {
    /// Runs the tests in a copy of the project.
    fn once(&self, of: Of, asked: RunRequest, limits: Limits) -> Result<(Run, String), TrialError> {
        let RunRequest { only, ends_itself, .. } = asked;
        let Self { at, tool: node, plan, reporter, project, language } = *self;
        let copy = of.copy();
        // The titles of the tests to report; all if empty.
        let titles = serde_json::to_string(only).unwrap_or_default();
        fs::write(reporter.join("only.json"), titles)?;
        if let Some(packages) = &plan.packages {
            packages::open(packages, &copy.path().join("node_modules"), &|_| None)?;
        } else if plan.program.is_some() {
            open_packages(copy.path(), &plan.folder)?;
        }
        let nonce = nonce()?;
        let report = reporter.join("report.cjs").display().to_string();
        let tests = project.tests.clone().unwrap_or_default();
        let tests = copy.path().join(tests).display().to_string();
        // The reporter comes first, before any code of the project.
        let mut arguments: Vec<String> = ["--no-warnings", "--require", &report].map(str::to_owned).to_vec();
        arguments.extend(without_traps(node).map(str::to_owned));
        if plan.row.name == "node" {
            arguments.push(format!("--import=file://{}", reporter.join("wait.mjs").display()));
            arguments.push(format!("--test-reporter={report}"));
            arguments.extend(self.by_title(of, only));
            arguments.extend(self.exit(of, ends_itself).filter(|_| node.version >= (22, 0)));
        }
        if plan.program.is_none() {
            let is_nodes = language == Language::TypeScript && !plan.reads_types(&project.root);
            let asks = types::option_of_node(node.version, project.lone.is_some());
            arguments.extend(asks.filter(|_| is_nodes).map(str::to_owned));
        }
        if plan.given != Given::default() {
            arguments.push(format!("--import=file://{}", reporter.join("names.mjs").display()));
        }
        arguments.extend(plan.node.clone());
        if let Some(program) = &plan.program {
            arguments.push(copy.path().join(program).display().to_string());
            arguments.extend(self.told(Path::new("")));
            if plan.settings.is_some() {
                arguments
                    .extend([format!("--config={}", reporter.join(SETTINGS).display()), "--no-package".to_owned()]);
            }
            let exit = self.exit(of, ends_itself);
            // Before the last argument, after which only tests files come.
            let at = arguments.len() - usize::from(plan.row.arguments.last() == Some(&"--runTestsByPath"));
            arguments.splice(at..at, plan.runner.clone().into_iter().chain(self.by_title(of, only)).chain(exit));
        }
        if plan.program.is_none() && types::are_read_by_require(&plan.node) {
            arguments.push(reporter.join("entry.cjs").display().to_string());
        }
        arguments.push(tests);
        let mut environment: Vec<(OsString, OsString)> = vec![
            ("PATH".into(), node.path().into()),
            // Node exits at once if it may not read the system's OpenSSL settings.
            ("OPENSSL_CONF".into(), "/dev/null".into()),
            // Threads and processes that a runner starts read this, too.
            ("NODE_OPTIONS".into(), format!("--require={}", reporter.join("memory.cjs").display()).into()),
            ("CI".into(), "1".into()),
        ];
        environment.extend(plan.environment.iter().map(|(name, value)| (name.into(), value.into())));
        let arguments = arguments.into_iter().map(OsString::from).collect();
        let request = serde_json::to_vec(&Request { nonce: &nonce }).unwrap_or_default();
        let addresses = if plan.program.is_some() { ADDRESSES } else { 0 };
        let job = Job { addresses, environment, ..driver(&node.program, arguments, request, limits) };
        let readable = [&node.readable[..], &[reporter.to_path_buf()], plan.packages.as_slice()].concat();
        let run = at.run_in(copy, &plan.folder, &readable, &[], job)?;
        // File names in messages refer to the user's files, not to the copy.
        let own = format!("{}/", copy.path().display());
        let record = String::from_utf8(run.record).map(|text| text.replace(&own, "").into_bytes());
        let (record, output) = (record.unwrap_or_else(FromUtf8Error::into_bytes), run.output.replace(&own, ""));
        Ok((Run { record, output, ..run }, nonce))
    }

    /// The option that has the runner end after the tests, in runs without the candidate that need not end by
    /// themselves.
    fn exit(&self, of: Of, ends_itself: bool) -> Option<String> {
        self.plan.row.exit.filter(|_| !matches!(of, Of::Candidate(_)) && !ends_itself).map(str::to_owned)
    }

    /// The option that has the runner skip all other tests.
    fn by_title(&self, of: Of, only: &[String]) -> Option<String> {
        match of {
            Of::Ending(_) => self.plan.by_title_alone(only),
            _ => self.plan.by_title(only),
        }
    }

    /// Runs the tests with a program that writes its own report.
    fn once_in(&self, runtime: &Runtime, of: Of, only: &[String], limits: Limits) -> Result<(Run, String), TrialError> {
        let Self { at, tool, plan, reporter, project, .. } = *self;
        let copy = of.copy();
        let folder = Scratch::new()?;
        let nonce = nonce()?;
        let report = folder.path().join(&nonce).with_extension("xml");
        let tests = copy.path().join(project.tests.as_deref().unwrap_or(Path::new("")));
        let mut arguments = self.told(&report);
        arguments.extend(plan.runner.clone().into_iter().chain(self.by_title(of, only)));
        arguments.push(tests.display().to_string());
        let arguments = arguments.into_iter().map(OsString::from).collect();
        let packages = runtime.packages();
        let mut environment: Vec<(OsString, OsString)> =
            vec![("PATH".into(), tool.path().into()), ("CI".into(), "1".into()), ("NO_COLOR".into(), "1".into())];
        environment.extend(plan.environment.iter().map(|(name, value)| (name.into(), value.into())));
        environment.extend(runtime.environment.iter().map(|&(name, value)| (name.into(), value.into())));
        environment.extend(runtime.cache.zip(packages.clone()).map(|((name, _), path)| (name.into(), path.into())));
        let Runtime { addresses, sees_own_map, .. } = *runtime;
        let job = Job { addresses, sees_own_map, environment, ..Job::new(&tool.program, arguments, limits) };
        let readable = [&tool.readable[..], &[reporter.to_path_buf()], packages.as_slice()].concat();
        let run = at.run_in(copy, &plan.folder, &readable, &[folder.path()], job)?;
        let own = format!("{}/", copy.path().display());
        let (output, changed) = runtime::changes(&run.output.replace(&own, ""));
        let xml = files::text(&report, LARGEST_REPORT).unwrap_or_default().replace(&own, "");
        let base = tests.file_name().unwrap_or_default().to_string_lossy();
        let Some(all) = junit::read(&xml, &base) else { return Ok((Run { record: Vec::new(), output, ..run }, nonce)) };
        // A failed test explains an exit code other than 0. Any other cause is a complaint.
        let has_failed = all.iter().any(|test| test.outcome == Outcome::Failed);
        let (tests, missing) = runtime::asked(all, only);
        let (ended, complaint) = match run.ended {
            Ended::Exited(1..) if !has_failed => {
                (Ended::Exited(0), complaint(&output).unwrap_or_else(|| "the tests could not be run".to_owned()))
            }
            Ended::Exited(_) => (Ended::Exited(0), missing),
            ended => (ended, missing),
        };
        let names = Names { nonce: nonce.clone(), tests, complaint, changed, ..Names::default() };
        let mut record = serde_json::to_vec(&names).unwrap_or_default();
        record.push(b'\n');
        Ok((Run { ended, record, output, ..run }, nonce))
    }

    /// The arguments of a runner that writes its own report to this file.
    fn told(&self, report: &Path) -> Vec<String> {
        let [folder, report] = [self.reporter, report].map(|path| path.display().to_string());
        let of = |word: &&str| word.replace("{folder}", &folder).replace("{report}", &report);
        self.plan.row.arguments.iter().map(of).collect()
    }
}

/// Size limit of a report that a program writes itself.
const LARGEST_REPORT: u64 = 16 << 20;

/// Turns each linked folder of packages in a copy into a folder of links to the packages. Tools of a project
/// write beside packages, for example compiled settings.
fn open_packages(copy: &Path, folder: &Path) -> std::io::Result<()> {
    for folder in folder.ancestors() {
        let own = copy.join(folder).join("node_modules");
        let Ok(target) = fs::read_link(&own) else { continue };
        fs::remove_file(&own)?;
        packages::open(&target, &own, &|_| None)?;
    }
    Ok(())
}

/// The message of the first failed check in a TAP report.
fn not_ok(output: &str) -> Option<String> {
    let mut lines = output.lines().map(str::trim).skip_while(|line| !line.starts_with("not ok "));
    let check = lines.next()?.trim_start_matches("not ok ").trim_start_matches(|c: char| c.is_ascii_digit()).trim();
    let told: Vec<&str> = lines.take_while(|line| *line != "..." && !line.starts_with("not ok ")).collect();
    let of = |key: &str| {
        let at = told.iter().position(|line| line.starts_with(key))?;
        let value = told[at][key.len()..].trim();
        let value = if value == "|-" { told.get(at + 1)? } else { value };
        Some(format!("{key} {value}"))
    };
    let values: Vec<String> = ["expected:", "actual:"].iter().filter_map(|key| of(key)).collect();
    Some(clean_line(&[&[check.to_owned()], &values[..]].concat().join(", "), 300))
}

/// The first uncaught error and its place.
fn complaint(output: &str) -> Option<String> {
    let is_error = |line: &&str| {
        let kind = line.split([':', ' ']).next().unwrap_or_default();
        kind.ends_with("Error") && kind.chars().all(char::is_alphanumeric) && line.contains(": ")
    };
    // Mocha prints where the error was thrown.
    let mut lines = output.lines().map(|line| line.trim().trim_start_matches("Exception during run: "));
    let error = lines.clone().find(is_error).or_else(|| lines.find_map(|line| line.strip_prefix("error: ")))?;
    // The place is on a line of its own above the error.
    let place = output.lines().filter(|line| line.starts_with("file://") || line.starts_with('/')).find_map(|line| {
        let (path, number) = line.rsplit_once(':')?;
        let number: u32 = number.parse().ok()?;
        Some(format!(" ({}:{number})", path.rsplit('/').next().unwrap_or_default()))
    });
    Some(clean_line(&format!("{error}{}", place.unwrap_or_default()), 400))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_copy_can_be_written_beside_its_packages() {
        let (installed, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(installed.path().join("left/pad")).unwrap();
        symlink(installed.path(), copy.path().join("node_modules")).unwrap();
        for _ in 0..2 {
            open_packages(copy.path(), Path::new("packages/one")).unwrap();
        }
        fs::create_dir(copy.path().join("node_modules/.made")).unwrap();
        assert!(copy.path().join("node_modules/left/pad").is_dir() && !installed.path().join(".made").exists());
    }

    #[test]
    fn what_only_processes_have_is_told_from_a_failure() {
        let failed = |why: &str| {
            let test = TestEnd { why: why.to_owned(), ..TestEnd::new("a", Outcome::Failed) };
            let by = crate::trial::evidence::Reporter::Runner;
            let (ended, output) = (Ended::Exited(0), String::new());
            let run = Run { ended, has_started: true, record: vec![], output, elapsed: std::time::Duration::ZERO };
            of_threads(&Evidence::of(run, Report::Tests { by, tests: vec![test], is_whole: true }))
        };
        assert!(failed("process.chdir() is not supported in workers") && !failed("expected 7 to be 6"));
    }

    #[test]
    fn the_first_check_that_failed_says_what_it_saw() {
        let output = "TAP version 13\n# f\nok 1 a\nnot ok 2 should be strictly equal\n  ---\n    operator: equal\n    expected: 6\n    \
            actual:   |-\n      { a: 7 }\n    at: f (a.js:1)\n  ...\nnot ok 3 b\n";
        assert_eq!(not_ok(output).unwrap(), "should be strictly equal, expected: 6, actual: { a: 7 }");
        assert_eq!((not_ok("not ok 1 b\n").as_deref(), not_ok("ok 1 a\n")), (Some("b"), None));
    }

    #[test]
    fn an_error_that_nobody_caught_is_found_in_what_node_prints() {
        let output = "hello: you\nfile:///tmp/x/f.mjs:2\n\n\n\nSyntaxError: Unexpected end of input\n    at compile (node:internal/x:346:16)\n\nNode.js v20.20.2\n";
        assert_eq!(complaint(output).unwrap(), "SyntaxError: Unexpected end of input (f.mjs:2)");
        assert_eq!(complaint("node:internal/harness:46\n      throw err;\n\nError: boom\n").unwrap(), "Error: boom");
        let missing =
            "\n Exception during run: Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'a.js'\n    at f (x:1)\n";
        assert_eq!(complaint(missing).unwrap(), "Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'a.js'");
        assert_eq!(complaint("Errors: none\nall is well\n"), None);
    }
}
