//! The runners of JavaScript tests: a table, and the choice of the one that a project uses.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::mocharc;
use super::runtime::{self, Runtime};
use super::script::{self, Command};
use super::types;
use super::words;
use crate::language::Language;
use crate::trial::language::row::{Project, TrialError};
use crate::trial::project::settings;
use crate::untrusted::clean_line;

/// A runner of tests.
#[derive(Debug)]
pub struct RunnerRow {
    /// Name of the runner and of its package.
    pub name: &'static str,
    /// Modules that tests for it import.
    pub imports: &'static [&'static str],
    /// Other text in tests that shows they are for it.
    pub marks: &'static [&'static str],
    /// Its globals. They identify tests that nothing else identifies.
    pub words: &'static [&'static str],
    /// Its part of the reporter.
    pub reporter: &'static str,
    /// Arguments of the runner. `{folder}` is the folder of the reporter, `{report}` the path of its own
    /// report. The tests file comes last.
    pub arguments: &'static [&'static str],
    /// Options with a value that are passed on from the project's test script.
    pub passed: &'static [&'static str],
    /// Options of one word that are passed on from the test script, by how they begin.
    pub passed_words: &'static [&'static str],
    /// Its option to end once all tests have, whatever they left open. Without the candidate a failed test
    /// may leave a server.
    pub exit: Option<&'static str>,
    /// Beginnings of the names of its settings files. It is started in the nearest folder that has one.
    settings: &'static [&'static str],
    /// Its option for a pattern that the titles of tests have to match, joined by blanks.
    by_title: Option<&'static str>,
    /// The program that runs it, if that is not node.
    pub runtime: Option<&'static Runtime>,
}

/// Defaults of a runner.
const PLAIN: RunnerRow = RunnerRow {
    name: "",
    imports: &[],
    marks: &[],
    words: &[],
    reporter: "",
    arguments: &[],
    passed: &[],
    passed_words: &[],
    exit: None,
    settings: &[],
    by_title: None,
    runtime: None,
};

const MOCHA: RunnerRow = RunnerRow {
    name: "mocha",
    imports: &["mocha"],
    words: &["context", "specify"],
    reporter: include_str!("reporter/mocha.js"),
    arguments: &["--no-color", "--reporter={folder}/report.cjs", "--file={folder}/begin.cjs"],
    passed: &["--config", "--ui", "-u"],
    passed_words: &["--exit"],
    settings: settings::MOCHA,
    by_title: Some("--grep"),
    ..PLAIN
};

/// Mocha below version 6, which has other options. Its program starts the process that runs the tests without
/// the report pipe, so that process is started at once.
pub static OLD_MOCHA: RunnerRow = RunnerRow {
    arguments: &["--no-colors", "--reporter={folder}/report.cjs", "{folder}/begin.cjs"],
    passed: &["--ui", "-u", "--opts"],
    ..MOCHA
};

/// The program of mocha that runs the tests in its own process.
const OLD_PROGRAM: &str = "_mocha";

/// Name of the row for a tests file that runs as a plain script.
pub const SCRIPT: &str = "a plain script";

/// Node's own runner is the last: it needs no package.
pub const ROWS: &[RunnerRow] = &[
    RunnerRow {
        name: "vitest",
        imports: &["vitest"],
        words: &["vi", "expect", "beforeAll", "afterAll"],
        reporter: include_str!("reporter/vitest.js"),
        arguments: &[
            "run",
            "--reporter={folder}/node_modules/reporter/report.mjs",
            "--coverage.enabled=false",
            // A file that jest does not take for a tests file is reported as one without tests.
            "--passWithNoTests",
            "--pool=threads",
            "--maxWorkers=1",
        ],
        passed: &["--config", "-c", "--project", "--environment"],
        settings: settings::VITEST,
        by_title: Some("--testNamePattern"),
        ..PLAIN
    },
    RunnerRow {
        name: "jest",
        imports: &["@jest/globals"],
        words: &["jest", "expect", "beforeAll", "afterAll"],
        reporter: include_str!("reporter/jest.js"),
        // Its workers are separate processes, and its watcher is a service.
        arguments: &[
            "--ci", "--runInBand", "--watchman=false", "--coverage=false", "--passWithNoTests",
            "--reporters={folder}/report.cjs", "--runTestsByPath",
        ],
        passed: &["--config", "-c", "--env"],
        passed_words: &["--forceExit", "--force-exit"],
        settings: settings::JEST,
        by_title: Some("--testNamePattern"),
        ..PLAIN
    },
    MOCHA,
    RunnerRow { name: SCRIPT, imports: &["tape", "uvu"], reporter: include_str!("reporter/script.js"), ..PLAIN },
    RunnerRow {
        name: "bun",
        imports: &["bun:test"],
        reporter: include_str!("reporter/outside.js"),
        arguments: &[
            "test", "--no-install", "--preload={folder}/report.cjs", "--reporter=junit", "--reporter-outfile={report}",
        ],
        passed: &["--preload", "-r", "--timeout", "--conditions"],
        by_title: Some("--test-name-pattern"),
        runtime: Some(&runtime::BUN),
        ..PLAIN
    },
    RunnerRow {
        name: "deno",
        marks: &["Deno.test", "jsr:@std/", "'@std/", "\"@std/", "https://deno.land/std"],
        reporter: include_str!("reporter/outside.js"),
        arguments: &[
            "test", "--no-check", "--no-prompt", "--cached-only", "--require={folder}/report.cjs",
            "--junit-path={report}", "--deny-write={report}",
        ],
        passed: &["--config", "-c", "--import-map", "--location", "--conditions", "--preload", "--require"],
        passed_words: &[
            "--allow-", "--deny-", "--permission-set", "--unstable", "--no-lock", "--node-modules-dir", "--env-file",
            "-A", "-R", "-W", "-N", "-E", "-S", "-P",
        ],
        runtime: Some(&runtime::DENO),
        ..PLAIN
    },
    RunnerRow {
        name: "node",
        imports: &["node:test"],
        words: &["test", "it", "describe", "suite"],
        reporter: include_str!("reporter/node.js"),
        // Since node 22.
        exit: Some("--test-force-exit"),
        // It matches the title of each part alone.
        by_title: None,
        ..PLAIN
    },
];

/// Test runners that are not supported, by the modules that their tests import.
const OTHERS: &[&str] = &["ava", "tap", "jasmine", "qunit"];
/// Runners of these whose tests need not import anything.
const OTHERS_WITH_GLOBALS: &[&str] = &["jasmine", "qunit"];

/// Packages that replace how node loads modules and exits, so that the end of a script cannot be judged.
const REPLACING: &[&str] = &["esm"];

/// The plan for running the tests of a project.
#[derive(Debug)]
pub struct Plan {
    pub row: &'static RunnerRow,
    /// The program of the runner, relative to the root. Node's own runner has none.
    pub program: Option<PathBuf>,
    /// The folder of the tests' package, relative to the root.
    pub folder: PathBuf,
    /// Options of node.
    pub node: Vec<String>,
    /// Options that the project's script gives node and that are left out.
    pub left_out: Vec<String>,
    /// Options of the runner.
    pub runner: Vec<String>,
    /// Settings in place of the runner's own, as JSON.
    pub settings: Option<String>,
    /// Variables that the script sets.
    pub environment: Vec<(String, String)>,
    /// A folder of packages outside of the project, linked into its top folder for the tests.
    pub packages: Option<PathBuf>,
    /// A program of the project's own that its script runs beside the tests.
    pub besides: Option<String>,
    /// Names that the tests use without importing them, and that are defined for them.
    pub given: Given,
}

/// Globals defined for tests.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Names of node's library.
    pub names: Vec<&'static str>,
    /// True if the names of the program are defined, too.
    pub has_program: bool,
}

impl Plan {
    /// The plan from the text of the tests, and the `package.json` of their package or of one around it.
    /// `removes_types`: true if node is known to remove types by itself.
    pub fn of(project: &Project, tests: &str, removes_types: impl Fn() -> bool) -> Result<Self, TrialError> {
        let tests_file = project.tests.as_deref().unwrap_or(&project.file);
        let folders = || tests_file.ancestors().skip(1);
        let found: Vec<(&Path, Value)> = folders()
            .flat_map(|folder| script::manifests(&project.root.join(folder)).map(move |manifest| (folder, manifest)))
            .collect();
        // A manifest without a name or scripts only states the kind of the modules beside it.
        let own = found.iter().find(|(_, own)| own.get("name").or(own.get("scripts")).is_some()).or(found.first());
        let mut folder = own.map_or(project.package.clone(), |(folder, _)| folder.to_path_buf());
        let manifests: Vec<&Value> = found.iter().map(|(_, manifest)| manifest).collect();
        let commands = script::commands(&manifests);
        let file = tests_file.strip_prefix(&folder).unwrap_or(tests_file);
        let has = |name: &str| folders().any(|folder| project.root.join(folder).join(name).is_file());
        let program_of = |row: &RunnerRow| {
            let inside = |folder: &Path| program_of(&project.root, &folder.join("node_modules").join(row.name), row);
            folders().find_map(inside).map(|program| (program, None)).or_else(|| {
                let packages = packages_outside(project, Some(row.name))?;
                let program = program_of(packages.parent()?, &Path::new("node_modules").join(row.name), row)?;
                Some((program, Some(packages)))
            })
        };
        let found_row = row((tests, file), &commands, &manifests, has).map_err(|name| {
            let program = folders().map(|folder| folder.join("node_modules/.bin").join(name));
            let program = program.filter_map(|path| Some(path.strip_prefix(&folder).ok()?.to_path_buf()));
            let program = program.into_iter().find(|path| project.root.join(&folder).join(path).exists());
            let file = file.display();
            let command = program.map_or_else(|| "with the command that runs them".to_owned(), |program| format!("'{} {file}'", program.display()));
            TrialError::Tests(format!(
                "the tests are for {name}, and only those for vitest, jest, mocha, tape, uvu, node:test, bun and deno, and scripts that node is started with, can be run: give --test-command {command}"
            ))
        })?;
        let own = fs::read_to_string(project.root.join(&project.file)).unwrap_or_default();
        let row = found_row.unwrap_or_else(|| by_words((tests, &own), |row| program_of(row).is_some()));
        if let Some(of_script) =
            found.iter().find(|(_, manifest)| script::has_test(manifest)).filter(|_| row.runtime.is_some())
        {
            // Settings and paths are relative to the folder of the script.
            folder = of_script.0.to_path_buf();
        }
        let (program, packages) = if row.runtime.is_some() || ["node", SCRIPT].contains(&row.name) {
            (None, packages_outside(project, None).filter(|_| project.lone.is_some()))
        } else {
            let (program, packages) = program_of(row).ok_or_else(|| {
                let folder = project.folder().map_or_else(|| "this folder".to_owned(), |own| match project.lone {
                    Some(_) => own.display().to_string(),
                    None => project.root.join(&folder).display().to_string(),
                });
                TrialError::Interpreter(format!(
                    "the tests are for {0}, and there is no node_modules/{0} in {folder}: install it there with `npm install --save-dev {0}`, or give the tests as --test-command",
                    row.name,
                ))
            })?;
            (Some(program), packages)
        };
        let is_old = program.as_ref().is_some_and(|program| program.ends_with(OLD_PROGRAM));
        let row = if is_old { &OLD_MOCHA } else { row };
        folder = folder_of_settings(&project.root, &folder, row).unwrap_or(folder);
        // True if only the words of the tests identify their runner.
        let is_bare = found_row.is_none() && (project.lone.is_some() || found.is_empty());
        let is_nodes = ["node", SCRIPT].contains(&row.name);
        let given = Given {
            names: if is_bare && is_nodes { words::of_node(tests, &own) } else { Vec::new() },
            has_program: is_nodes && (is_bare || project.lone.is_some()) && !words::import_a_file(tests),
        };
        let starting = starting(row, &commands, file);
        let words = starting.map_or(&[][..], |command| &command[..]);
        let of_mocha = (row.name == "mocha").then(|| project.root.join(&folder));
        let mut node = script::node_options(words, of_mocha.as_deref());
        let mut runner = script::valued(words, row.passed);
        let settings = of_mocha.and_then(|folder| mocharc::taken(&folder, &mut node, &mut runner));
        runner.extend((is_bare && row.name == "vitest").then(|| "--globals".to_owned()));
        runner.extend(words.iter().filter(|word| row.passed_words.iter().any(|head| word.starts_with(head))).cloned());
        if let Some(runtime) = row.runtime.filter(|_| starting.is_none()) {
            runner.extend(runtime.usual.iter().map(|&word| word.to_owned()));
        }
        if row.name == SCRIPT && ends_itself(tests) {
            let file = tests_file.strip_prefix(&folder).unwrap_or(tests_file).display();
            return Err(TrialError::Tests(format!(
                "{file} ends its process itself (process.exit), which cannot be told from code that does: let it come to its end, or give --test-command 'node {file}'"
            )));
        }
        if let Some(name) =
            node.windows(2).map(|pair| pair[1].as_str()).find(|name| row.name == SCRIPT && REPLACING.contains(name))
        {
            let file = tests_file.strip_prefix(&folder).unwrap_or(tests_file).display();
            return Err(TrialError::Tests(format!(
                "{file} is started with {name}, which replaces the parts of node that show whether a script has come to its end: give --test-command with the command that runs it"
            )));
        }
        let environment = script::environment(words);
        let (left_out, besides) = (script::not_passed(words), script::besides(&manifests));
        let mut plan =
            Self { row, program, folder, node, left_out, runner, settings, environment, packages, besides, given };
        let is_typed = [tests_file, &project.file].iter().any(|f| Language::of_path(f) == Some(Language::TypeScript));
        if is_typed && matches!(row.name, "node" | "mocha" | SCRIPT) && !plan.reads_types(&project.root) {
            let installed =
                |name: &str| folders().any(|folder| project.root.join(folder).join("node_modules").join(name).is_dir());
            let is_module = manifests.iter().find_map(|manifest| manifest["type"].as_str()) == Some("module");
            // A script that starts node alone relies on it.
            let is_left_to_node = row.name == "node" && starting.is_some() && removes_types();
            let loader = (!is_left_to_node).then(|| types::loader(is_module, installed)).flatten();
            plan.node.extend(loader.into_iter().flatten().map(|&option| option.to_owned()));
        }
        Ok(plan)
    }

    /// A sentence on a program of the project's own that its script runs beside the tests.
    pub fn unheard(&self) -> Option<String> {
        let command = clean_line(self.besides.as_deref()?, 60);
        Some(format!("`npm test` runs `{command}`, too, which is not heard here: --test-command 'npm test' hears it"))
    }

    /// The option that has the runner skip other tests than these. The reporter decides which tests are
    /// meant.
    pub fn by_title(&self, only: &[String]) -> Option<String> {
        Self::pattern(self.row.by_title?, only)
    }

    /// The option for runs in which no other test may run; rather too few run than too many. Node's own
    /// runner matches the title of a part alone, or in newer versions with the titles above it.
    pub fn by_title_alone(&self, only: &[String]) -> Option<String> {
        if self.row.name != "node" {
            return self.by_title(only);
        }
        let last = only.iter().filter_map(|title| title.rsplit(" > ").next()).map(str::to_owned);
        Self::pattern("--test-name-pattern", &only.iter().cloned().chain(last).collect::<Vec<_>>())
    }

    fn pattern(option: &str, only: &[String]) -> Option<String> {
        let escaped = |title: &String| {
            let title = title.replace(" > ", " ");
            let plain = |c: char| (!c.is_alphanumeric() && c != ' ').then_some('\\').into_iter().chain([c]);
            // No argument can hold a NUL: any character stands in its place.
            title.split('\0').map(|part| part.chars().flat_map(plain).collect()).collect::<Vec<String>>().join("[^]")
        };
        let titles: Vec<String> = only.iter().map(escaped).collect();
        // If the titles are too long for an argument, the reporter leaves the other tests out.
        let pattern = titles.join("|");
        (!only.is_empty() && pattern.len() < 64 << 10).then(|| format!("{option}={pattern}"))
    }

    /// Returns true if something other than node itself removes the types.
    pub fn reads_types(&self, root: &Path) -> bool {
        match self.row.name {
            "node" | SCRIPT => types::are_read_with(&self.node),
            "mocha" => types::are_read_with(&self.node) || types::are_read_by_mocha(&root.join(&self.folder)),
            _ => true,
        }
    }
}

/// The command that runs a tests file by this runner. Of several it is the one that names the file or its
/// folder, else the first. One file of a folder may load the others.
fn starting<'c>(row: &RunnerRow, commands: &'c [Command], file: &Path) -> Option<&'c Command> {
    let is_started = |command: &&Command| match row.name {
        SCRIPT => script::is_run_by(command, file) || row.imports.iter().any(|name| script::starts(command, name)),
        name => script::starts(command, name),
    };
    let starting: Vec<&Command> = commands.iter().filter(is_started).collect();
    let is_nodes = ["node", SCRIPT].contains(&row.name);
    let beside = || commands.iter().find(|command| is_nodes && script::runs_beside(command, file));
    starting.iter().find(|command| script::names(command, file)).or(starting.first()).copied().or_else(beside)
}

/// The nearest folder, from this one upwards, with settings of a runner: in a file or in `package.json`.
fn folder_of_settings(root: &Path, folder: &Path, row: &RunnerRow) -> Option<PathBuf> {
    let has = |folder: &&Path| {
        let names = fs::read_dir(root.join(folder)).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let is_one = |name: &str| row.settings.iter().any(|head| name.starts_with(head));
        let in_manifest = || script::manifests(&root.join(folder)).any(|manifest| manifest.get(row.name).is_some());
        names.into_iter().any(|name| name.to_str().is_some_and(is_one)) || in_manifest()
    };
    if row.settings.is_empty() { None } else { folder.ancestors().find(has).map(Path::to_path_buf) }
}

/// Returns true if a script may end its process with 0 before it comes to its end.
fn ends_itself(tests: &str) -> bool {
    let mut calls = tests.split("process.exit(").skip(1);
    calls.any(|rest| !rest.trim_start().starts_with(|c: char| ('1'..='9').contains(&c)))
}

/// The runner: the one that the tests import, else the one that the test script starts, else one that is
/// installed for development or has settings there. `None` if nothing says it. Bun and deno run the tests of
/// node, too. An error names a runner that is not in the table.
fn row(
    (tests, file): (&str, &Path),
    commands: &[Command],
    manifests: &[&Value],
    has_file: impl Fn(&str) -> bool,
) -> Result<Option<&'static RunnerRow>, &'static str> {
    let imports = || tests.lines().filter(|line| ["import", "from ", "require"].iter().any(|word| line.contains(word)));
    let imported = |row: &&RunnerRow| {
        let stands_in =
            |line: &str, name: &str| [format!("'{name}'"), format!("\"{name}\"")].iter().any(|n| line.contains(n));
        row.imports.iter().any(|name| imports().any(|line| stands_in(line, name)))
    };
    let started = |row: &&RunnerRow| commands.iter().any(|command| script::starts(command, row.name));
    let has = |name: &str| {
        let has = |manifest: &Value, part: &str| manifest[part].get(name).is_some();
        manifests.iter().any(|manifest| ["devDependencies", "dependencies"].iter().any(|part| has(manifest, part)))
    };
    let installed = |row: &&RunnerRow| has(row.name);
    let by = |test: &dyn Fn(&&RunnerRow) -> bool| ROWS.iter().find(test);
    let marked = |row: &&RunnerRow| row.marks.iter().any(|mark| tests.contains(mark));
    let is_runtime_started = |row: &&RunnerRow| row.runtime.is_some() && started(row);
    if let Some(row) = by(&|row| row.name != "node" && imported(row)).or_else(|| by(&marked)) {
        return Ok(Some(row));
    }
    if let Some(row) = by(&imported) {
        return Ok(by(&is_runtime_started).or(Some(row)));
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
        return Ok(row_of(SCRIPT));
    }
    let is_set_up =
        |row: &&RunnerRow| row.runtime.is_some_and(|runtime| runtime.files.iter().any(|name| has_file(name)));
    let refuse = |is_meant: &dyn Fn(&str) -> bool| {
        OTHERS_WITH_GLOBALS.iter().find(|name| is_meant(name)).map_or(Ok(()), |name| Err(*name))
    };
    if let Some(row) = by(&started) {
        return Ok(Some(row));
    }
    refuse(&|name| commands.iter().any(|command| script::starts(command, name)))?;
    if let Some(row) = by(&installed) {
        return Ok(Some(row));
    }
    refuse(&has)?;
    Ok(by(&is_set_up))
}

/// The runner whose globals the tests use and the program does not define. The one with most such words wins;
/// of several one that is installed; node's own comes last. Tests without such words are a script.
fn by_words((tests, program): (&str, &str), is_installed: impl Fn(&RunnerRow) -> bool) -> &'static RunnerRow {
    let is_used = |word: &&&str| words::uses(tests, word) && !words::defines(program, word);
    let count = |row: &&RunnerRow| row.words.iter().filter(is_used).count();
    let used = ROWS.iter().rev().filter(|row| count(row) > 0);
    let best = used.max_by_key(|row| (row.name != "node", count(row), is_installed(row)));
    best.or_else(|| row_of(SCRIPT)).unwrap_or(&PLAIN)
}

fn row_of(name: &str) -> Option<&'static RunnerRow> {
    ROWS.iter().find(|row| row.name == name)
}

/// The nearest folder of packages that has this package: around the project's own folder, then around a
/// program in PATH. `None` if the project has a folder of packages.
pub fn packages_outside(project: &Project, name: Option<&str>) -> Option<PathBuf> {
    let folder = project.folder();
    let above = folder.iter().flat_map(|folder| folder.ancestors()).map(|folder| folder.join("node_modules"));
    let path = env::var_os("PATH").unwrap_or_default();
    let program = |folder: PathBuf| folder.join(name?).canonicalize().ok();
    let of_program =
        |program: PathBuf| program.ancestors().find(|f| f.ends_with("node_modules")).map(Path::to_path_buf);
    let in_path = env::split_paths(&path).filter_map(program).filter_map(of_program);
    let has = |packages: &PathBuf| name.map_or(packages.is_dir(), |name| packages.join(name).is_dir());
    above.chain(in_path).find(has).filter(|_| !project.root.join("node_modules").exists())
}

/// The program of an installed runner, relative to the root.
fn program_of(root: &Path, package: &Path, row: &RunnerRow) -> Option<PathBuf> {
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(root.join(package).join("package.json")).ok()?).ok()?;
    let major = manifest["version"].as_str().and_then(|version| version.split('.').next()?.parse().ok());
    let is_old = row.name == "mocha" && major.is_some_and(|major: u32| major < 6);
    let name = if is_old { OLD_PROGRAM } else { row.name };
    let program = manifest["bin"].as_str().or_else(|| manifest["bin"][name].as_str())?;
    Some(package.join(program.trim_start_matches("./"))).filter(|path| root.join(path).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_starts_where_its_settings_are() {
        let root = tempfile::tempdir().unwrap();
        let plain = ("packages/a/package.json", "{\"name\":\"a\"}");
        let with_jest = ("packages/c/package.json", "{\"name\":\"c\",\"jest\":{}}");
        let files = [("vite.config.ts", ""), plain, ("packages/b/vitest.config.mts", ""), with_jest];
        crate::files::write_all(root.path(), files);
        let folder = |of: &str, runner: &str| {
            let row = row_of(runner).unwrap();
            folder_of_settings(root.path(), Path::new(of), row).map(|folder| folder.display().to_string())
        };
        assert_eq!(folder("packages/a", "vitest").as_deref(), Some(""));
        assert_eq!(folder("packages/b", "vitest").as_deref(), Some("packages/b"));
        assert_eq!(folder("packages/c", "jest").as_deref(), Some("packages/c"));
        assert_eq!((folder("packages/a", "jest"), folder("packages/a", "node")), (None, None));
    }

    fn project(root: &Path, tests: &str) -> Project {
        let (root, tests, file) = (root.to_path_buf(), Some(tests.into()), "a.js".into());
        Project { root, package: PathBuf::new(), file, tests, only: Vec::new(), lone: None }
    }

    #[test]
    fn a_script_whose_end_nobody_can_tell_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let find = |option: &str| {
            write("package.json", &format!("{{\"name\":\"a\",\"scripts\":{{\"test\":\"uvu {option} test\"}}}}"));
            Plan::of(&project(folder.path(), "test.js"), "import { test } from 'uvu';\n", || true).map(drop)
        };
        let said = find("-r esm").unwrap_err().to_string();
        assert!(said.contains("test.js is started with esm") && find("-r dotenv/config").is_ok(), "{said}");
    }

    #[test]
    fn of_several_commands_that_of_the_file_counts() {
        let folder = tempfile::tempdir().unwrap();
        let scripts = "{\"name\":\"a\",\"scripts\":{\"test\":\"TZ=UTC vitest run && npm run test:build && npm run test:more\",\
            \"test:build\":\"vitest run --config build.ts\",\"test:more\":\"cross-env A=1 vitest -c more.ts 'more/**/*.ts'\"}}";
        let package = ("node_modules/vitest/package.json", "{\"bin\":\"a.js\"}");
        let files = [package, ("node_modules/vitest/a.js", ""), ("package.json", scripts)];
        crate::files::write_all(folder.path(), files);
        let of = |tests: &str| {
            let plan = Plan::of(&project(folder.path(), tests), "", || true).unwrap();
            let set: Vec<String> = plan.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
            [plan.runner, set].concat().join(" ")
        };
        assert_eq!([of("a.test.ts"), of("more/in/a.test.ts")], ["TZ=UTC", "-c more.ts A=1"]);
    }

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
        let find = |tests: &str, script: &str, more: &str, files: &[&str]| {
            let manifest =
                format!("{{\"scripts\":{{\"test\":{script:?}}}{}{more}}}", if more.is_empty() { "" } else { "," });
            let manifest: Value = serde_json::from_str(&manifest).unwrap();
            row((tests, Path::new("test/a.js")), &script::commands(&[&manifest]), &[&manifest], |name| {
                files.contains(&name)
            })
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
            ("", "echo", "", ""),
            ("const test = require('tape')", "nyc tape test/*.js", both, SCRIPT),
            ("import * as assert from 'uvu/assert'; import { test } from 'uvu'", "uvu", both, SCRIPT),
            ("assert(1)", "mocha && node -r ./b ./test/a.js", both, SCRIPT),
            ("assert(1)", "node test/a", "", SCRIPT),
            ("assert(1)", "node test/b.js", "", ""),
        ] {
            assert_eq!(find(tests, script, more, &[]).unwrap().map_or("", |row| row.name), name, "{script}");
        }
        assert_eq!(find("const test = require('ava')", "ava test/*.js", both, &[]).unwrap_err(), "ava");
        let jasmine = r#""devDependencies":{"jasmine":"6"}"#;
        for (script, more) in [("jasmine 'spec/*.js'", both), ("nyc npm run spec", jasmine)] {
            assert_eq!(find("it('a', () => expect(f()))", script, more, &[]).unwrap_err(), "jasmine", "{script}");
        }
        let lock = &["bun.lock"][..];
        for (tests, script, more, files, name) in [
            ("import { test } from \"bun:test\"", "jest", both, &[][..], "bun"),
            ("test('a', f)", "bun --silent test src", both, &[], "bun"),
            ("test('a', f)", "bun run build", both, lock, "jest"),
            ("test('a', f)", "bun run build", "", lock, "bun"),
            ("import test from 'node:test'", "bun test", "", lock, "bun"),
            ("import test from 'node:test'", "", "", lock, "node"),
            ("Deno.test('a', f)", "vitest", both, &[], "deno"),
            ("import { it } from '@std/testing/bdd'", "", "", &[], "deno"),
            ("import test from 'node:test'", "deno test -A", "", &[], "deno"),
            ("test('a', f)", "", "", &["deno.jsonc"], "deno"),
        ] {
            assert_eq!(find(tests, script, more, files).unwrap().map_or("", |row| row.name), name, "{tests} {script}");
        }
    }

    #[test]
    fn tests_are_for_the_runner_whose_words_they_use() {
        for (tests, expected) in [
            ("assert(f(1) === 2)", None),
            ("function test() {\n  assert(f())\n}\ntest();\n", None),
            ("const testF = () => {};\ntestF();\n/a/.test(b); emit(c)\n// test(d)", None),
            ("test('a', () => assert(f()))", Some("node")),
            ("describe('a', () => it('b', () => assert.equal(f(), 1)))", Some("node")),
            ("const expect = (x) => x;\nit('a', () => expect(f()))", Some("node")),
            ("const { expect } = require('chai');\ndescribe('a', () => expect(f()).to.be.ok)", Some("node")),
            ("test('a', () => expect(f()).toBe(1))", Some("jest")),
            ("test('a', () => expect(vi.fn()).toBe(1))", Some("vitest")),
            ("test('a', () => expect(jest.fn()).toBe(1))", Some("jest")),
            ("context('a', () => specify('b', () => assert(f())))", Some("mocha")),
        ] {
            let row = by_words((tests, ""), |row| row.name == "jest");
            assert_eq!(row.name, expected.unwrap_or(SCRIPT), "{tests}");
        }
        assert_eq!(by_words(("expect(f())", ""), |_| false).name, "vitest");
    }
}
