//! The programs that run tests of JavaScript: a table, and which of them a project uses.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::runtime::{self, Runtime};
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
    /// What else in their text shows that they are for it.
    pub marks: &'static [&'static str],
    /// Its part of the reporter.
    pub reporter: &'static str,
    /// What it is told; `{folder}` is that of the reporter, `{report}` where it writes its own. The tests file
    /// comes last.
    pub arguments: &'static [&'static str],
    /// Options of the project's test script that are its own and are kept, each with a value.
    pub kept: &'static [&'static str],
    /// The same of options that are one word, by how they begin.
    pub kept_words: &'static [&'static str],
    /// Its option for a pattern that the titles of tests have to match, joined by blanks.
    by_title: Option<&'static str>,
    /// The program that runs it, where that is not node.
    pub runtime: Option<&'static Runtime>,
}

/// A runner of which little has to be said.
const PLAIN: Row = Row {
    name: "",
    imports: &[],
    marks: &[],
    reporter: "",
    arguments: &[],
    kept: &[],
    kept_words: &[],
    by_title: None,
    runtime: None,
};

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
            "--reporter={folder}/node_modules/reporter/report.mjs",
            "--coverage.enabled=false",
            // A file that it does not know as one of tests is reported like one without any.
            "--passWithNoTests",
            "--pool=threads",
            "--maxWorkers=1",
        ],
        kept: &["--config", "-c", "--project", "--environment"],
        by_title: Some("--testNamePattern"),
        ..PLAIN
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
            "--passWithNoTests",
            "--reporters={folder}/report.cjs",
            "--runTestsByPath",
        ],
        kept: &["--config", "-c", "--env"],
        by_title: Some("--testNamePattern"),
        ..PLAIN
    },
    Row {
        name: "mocha",
        imports: &["mocha"],
        reporter: include_str!("reporter/mocha.js"),
        arguments: &["--no-color", "--reporter={folder}/report.cjs", "--file={folder}/begin.cjs"],
        kept: &["--config", "--ui", "-u"],
        by_title: Some("--grep"),
        ..PLAIN
    },
    Row { name: SCRIPT, imports: &["tape", "uvu"], reporter: include_str!("reporter/script.js"), ..PLAIN },
    Row {
        name: "bun",
        imports: &["bun:test"],
        reporter: include_str!("reporter/outside.js"),
        arguments: &[
            "test",
            "--no-install",
            "--preload={folder}/report.cjs",
            "--reporter=junit",
            "--reporter-outfile={report}",
        ],
        kept: &["--preload", "-r", "--timeout", "--conditions"],
        by_title: Some("--test-name-pattern"),
        runtime: Some(&runtime::BUN),
        ..PLAIN
    },
    Row {
        name: "deno",
        marks: &["Deno.test", "jsr:@std/", "'@std/", "\"@std/", "https://deno.land/std"],
        reporter: include_str!("reporter/outside.js"),
        arguments: &[
            "test",
            "--no-check",
            "--no-prompt",
            "--cached-only",
            "--require={folder}/report.cjs",
            "--junit-path={report}",
            "--deny-write={report}",
        ],
        kept: &["--config", "-c", "--import-map", "--location", "--conditions", "--preload", "--require"],
        kept_words: &[
            "--allow-",
            "--deny-",
            "--permission-set",
            "--unstable",
            "--no-lock",
            "--node-modules-dir",
            "--env-file",
            "-A",
            "-R",
            "-W",
            "-N",
            "-E",
            "-S",
            "-P",
        ],
        runtime: Some(&runtime::DENO),
        ..PLAIN
    },
    Row {
        name: "node",
        imports: &["node:test"],
        reporter: include_str!("reporter/node.js"),
        // It knows the title of each part alone.
        by_title: None,
        ..PLAIN
    },
];

/// Programs and packages of tests that cannot be run here.
const OTHERS: &[&str] = &["ava", "tap", "jasmine", "qunit"];

/// Packages that replace how node loads modules and ends, so that nobody can say how a script ended.
const REPLACING: &[&str] = &["esm"];

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
    /// Variables that the script sets.
    pub environment: Vec<(String, String)>,
}

impl Plan {
    /// From the text of the tests, and the `package.json` of their package or of one around it.
    /// `removes_types`: whether node is known to do that by itself.
    pub fn of(project: &Project, tests: &str, removes_types: impl Fn() -> bool) -> Result<Self, TrialError> {
        let tests_file = project.tests.as_deref().unwrap_or(&project.file);
        let folders = || tests_file.ancestors().skip(1);
        let found: Vec<(&Path, Value)> = folders()
            .flat_map(|folder| script::manifests(&project.root.join(folder)).map(move |manifest| (folder, manifest)))
            .collect();
        // A manifest without a name or scripts only says of which kind the modules beside it are.
        let own = found.iter().find(|(_, own)| own.get("name").or(own.get("scripts")).is_some()).or(found.first());
        let mut folder = own.map_or(project.package.clone(), |(folder, _)| folder.to_path_buf());
        let manifests: Vec<&Value> = found.iter().map(|(_, manifest)| manifest).collect();
        let commands = script::commands(&manifests);
        let file = tests_file.strip_prefix(&folder).unwrap_or(tests_file);
        let has = |name: &str| folders().any(|folder| project.root.join(folder).join(name).is_file());
        let row = row((tests, file), &commands, &manifests, has).map_err(|name| {
            let program = folders().map(|folder| folder.join("node_modules/.bin").join(name));
            let program = program.filter_map(|path| Some(path.strip_prefix(&folder).ok()?.to_path_buf()));
            let program = program.into_iter().find(|path| project.root.join(&folder).join(path).exists());
            let file = file.display();
            let command = program.map_or_else(|| "with the command that runs them".to_owned(), |program| format!("'{} {file}'", program.display()));
            TrialError::Interpreter(format!(
                "the tests are for {name}, and only those for vitest, jest, mocha, tape, uvu, node:test, bun and deno, and scripts that node is started with, can be run: give --test-command {command}"
            ))
        })?;
        if let Some(of_script) =
            found.iter().find(|(_, manifest)| script::has_test(manifest)).filter(|_| row.runtime.is_some())
        {
            // Settings and paths are looked for where it is started.
            folder = of_script.0.to_path_buf();
        }
        let program = if row.runtime.is_some() || ["node", SCRIPT].contains(&row.name) {
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
        // Of several the one that names the file, or its folder; else the first.
        let starting: Vec<&Command> = commands.iter().filter(is_started).collect();
        let starting = starting.iter().find(|command| script::names(command, file)).or(starting.first()).copied();
        let words = starting.map_or(&[][..], |command| &command[..]);
        let node = script::node_options(words);
        let mut runner = script::valued(words, row.kept);
        let is_kept = |word: &&String| row.kept_words.iter().any(|head| word.starts_with(head));
        runner.extend(words.iter().filter(is_kept).cloned());
        if let Some(runtime) = row.runtime.filter(|_| starting.is_none()) {
            runner.extend(runtime.usual.iter().map(|&word| word.to_owned()));
        }
        if row.name == SCRIPT && ends_itself(tests) {
            let file = tests_file.strip_prefix(&folder).unwrap_or(tests_file).display();
            return Err(TrialError::Interpreter(format!(
                "{file} ends its process itself (process.exit), which cannot be told from code that does: let it come to its end, or give --test-command 'node {file}'"
            )));
        }
        if let Some(name) =
            node.windows(2).map(|pair| pair[1].as_str()).find(|name| row.name == SCRIPT && REPLACING.contains(name))
        {
            let file = tests_file.strip_prefix(&folder).unwrap_or(tests_file).display();
            return Err(TrialError::Interpreter(format!(
                "{file} is started with {name}, which replaces the parts of node that show whether a script has come to its end: give --test-command with the command that runs it"
            )));
        }
        let environment = script::environment(words);
        let mut plan = Self { row, program, folder, node, runner, environment };
        let is_typed = [tests_file, &project.file].iter().any(|f| Language::of_path(f) == Some(Language::TypeScript));
        if is_typed && matches!(row.name, "node" | "mocha" | SCRIPT) && !plan.reads_types(&project.root) {
            let installed =
                |name: &str| folders().any(|folder| project.root.join(folder).join("node_modules").join(name).is_dir());
            let is_module = manifests.iter().find_map(|manifest| manifest["type"].as_str()) == Some("module");
            // A script that starts node alone counts on it.
            let is_left_to_node = row.name == "node" && starting.is_some() && removes_types();
            let loader = (!is_left_to_node).then(|| types::loader(is_module, installed)).flatten();
            plan.node.extend(loader.into_iter().flatten().map(|&option| option.to_owned()));
        }
        Ok(plan)
    }

    /// What has the runner leave out other tests than these; which are meant is the reporter's to say.
    pub fn by_title(&self, only: &[String]) -> Option<String> {
        Self::pattern(self.row.by_title?, only)
    }

    /// The same where no other test may run, if rather too few do: node's own runner knows the title of a part
    /// alone, or, in newer versions, with those above it.
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
            title
                .chars()
                .flat_map(|c| (!c.is_alphanumeric() && c != ' ').then_some('\\').into_iter().chain([c]))
                .collect()
        };
        let titles: Vec<String> = only.iter().map(escaped).collect();
        // Where they are too long for an argument, the reporter leaves the others out.
        let pattern = titles.join("|");
        (!only.is_empty() && pattern.len() < 64 << 10).then(|| format!("{option}={pattern}"))
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
/// development or has its settings there. Bun and deno run the tests of node, too. Or the name of one that is
/// not in the table.
fn row(
    (tests, file): (&str, &Path),
    commands: &[Command],
    manifests: &[&Value],
    has_file: impl Fn(&str) -> bool,
) -> Result<&'static Row, &'static str> {
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
    let marked = |row: &&Row| row.marks.iter().any(|mark| tests.contains(mark));
    let is_runtime_started = |row: &&Row| row.runtime.is_some() && started(row);
    if let Some(row) = by(&|row| row.name != "node" && imported(row)).or_else(|| by(&marked)) {
        return Ok(row);
    }
    if let Some(row) = by(&imported) {
        return Ok(by(&is_runtime_started).unwrap_or(row));
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
    let is_set_up = |row: &&Row| row.runtime.is_some_and(|runtime| runtime.files.iter().any(|name| has_file(name)));
    let found = by(&started).or_else(|| by(&installed)).or_else(|| by(&is_set_up));
    Ok(found.unwrap_or(&ROWS[ROWS.len() - 1]))
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
    fn a_script_whose_end_nobody_can_tell_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let find = |option: &str| {
            write("package.json", &format!("{{\"name\":\"a\",\"scripts\":{{\"test\":\"uvu {option} test\"}}}}"));
            let project = Project {
                root: folder.path().to_path_buf(),
                package: "".into(),
                file: "a.js".into(),
                tests: Some("test.js".into()),
                only: Vec::new(),
            };
            Plan::of(&project, "import { test } from 'uvu';\n", || true).map(drop)
        };
        let said = find("-r esm").unwrap_err().to_string();
        assert!(said.contains("test.js is started with esm") && find("-r dotenv/config").is_ok(), "{said}");
    }

    #[test]
    fn of_several_commands_that_of_the_file_counts() {
        let folder = tempfile::tempdir().unwrap();
        let scripts = "{\"name\":\"a\",\"scripts\":{\"test\":\"TZ=UTC vitest run && npm run test:build && npm run test:more\",\
            \"test:build\":\"vitest run --config build.ts\",\"test:more\":\"cross-env A=1 vitest -c more.ts 'more/**/*.ts'\"}}";
        fs::create_dir_all(folder.path().join("node_modules/vitest")).unwrap();
        fs::write(folder.path().join("node_modules/vitest/package.json"), "{\"bin\":\"a.js\"}").unwrap();
        fs::write(folder.path().join("node_modules/vitest/a.js"), "").unwrap();
        fs::write(folder.path().join("package.json"), scripts).unwrap();
        let of = |tests: &str| {
            let project = Project {
                root: folder.path().to_path_buf(),
                package: "".into(),
                file: "a.ts".into(),
                tests: Some(tests.into()),
                only: Vec::new(),
            };
            let plan = Plan::of(&project, "", || true).unwrap();
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
            ("", "echo", "", "node"),
            ("const test = require('tape')", "nyc tape test/*.js", both, SCRIPT),
            ("import * as assert from 'uvu/assert'; import { test } from 'uvu'", "uvu", both, SCRIPT),
            ("assert(1)", "mocha && node -r ./b ./test/a.js", both, SCRIPT),
            ("assert(1)", "node test/a", "", SCRIPT),
            ("assert(1)", "node test/b.js", "", "node"),
        ] {
            assert_eq!(find(tests, script, more, &[]).unwrap().name, name, "{script}");
        }
        assert_eq!(find("const test = require('ava')", "ava test/*.js", both, &[]).unwrap_err(), "ava");
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
            assert_eq!(find(tests, script, more, files).unwrap().name, name, "{tests} {script}");
        }
    }
}
