//! JavaScript and TypeScript: their row in the table of trials.

mod junit;
mod project;
mod reach;
mod runner;
mod runtime;
mod script;
mod single;
mod types;

use std::path::{Component, Path, PathBuf};

use runner::Plan;
use runtime::Runtime;
use single::Runs;

use crate::language::Language;
use crate::sandbox::Limits;
use crate::trial::language::row::{
    Context, Kept, Lookup, Marks, Project, Recipe, Row, Sources, Tool, Trial, TrialError, TrialLanguage, Verdict,
    no_examples,
};

pub const ROW: Row = Row {
    languages: &[Language::JavaScript, Language::TypeScript],
    reach: reach::REACH,
    needs_project,
    tests: Marks { about, ..Marks::NONE },
    examples: no_examples,
    open: || Box::new(JavaScript(Tools::default())),
};

const RECIPE: Recipe = Recipe {
    language: "JavaScript",
    names: &["node", "nodejs"],
    questions: &[&["-p", "process.versions.node + '\\n' + process.execPath"]],
    from_root: true,
    oldest: (18, 0),
    place: |places| {
        let program = places.first()?.canonicalize().ok()?;
        let library = program.parent().and_then(Path::parent).map(|prefix| prefix.join("lib"));
        Some((program, library.into_iter().filter(|library| library.is_dir()).collect()))
    },
};

/// The file that a tests file is about, as the runners know them: by a part of its name, or by its folder.
fn about(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    let stem = [".test", ".spec", "_test", "-test", ".tests"].iter().find_map(|end| name.strip_suffix(end));
    let stem = stem.or_else(|| ["test-", "test_"].iter().find_map(|start| name.strip_prefix(start)));
    let folders = ["__tests__", "test", "tests", "spec"];
    let in_folder = || path.parent().is_some_and(|p| p.iter().any(|part| folders.iter().any(|name| part == *name)));
    let is_one = || in_folder() || ["test", "tests"].contains(&name);
    stem.or_else(|| is_one().then_some(name)).map(str::to_owned)
}

/// The programs that run it, each looked for when it is needed.
#[derive(Debug)]
struct Tools {
    node: Lookup,
    bun: Lookup,
    deno: Lookup,
}

impl Default for Tools {
    fn default() -> Self {
        let [bun, deno] = [&runtime::BUN, &runtime::DENO].map(|runtime| Lookup::new(&runtime.recipe));
        Self { node: Lookup::new(&RECIPE), bun, deno }
    }
}

impl Tools {
    /// The one that runs the tests of a runner.
    fn of(&self, row: &runner::Row) -> Result<&Tool, TrialError> {
        match row.name {
            "bun" => self.bun.get(),
            "deno" => self.deno.get(),
            _ => self.node.get(),
        }
    }
}

#[derive(Debug)]
struct JavaScript(Tools);

impl TrialLanguage for JavaScript {
    fn tool(&self) -> Result<&Tool, TrialError> {
        self.0.node.get()
    }

    fn check(&self, language: Language) -> Result<(), TrialError> {
        check(self.tool()?, language)
    }

    fn check_tests(
        &self,
        at: &Context,
        language: Language,
        _file: Option<&Path>,
        (name, text): (&str, &str),
    ) -> Result<(), TrialError> {
        match language {
            Language::JavaScript => {
                single::parse(&Runs { at, node: self.tool()?, limits: Limits::default() }, name, text)
            }
            _ => self.check(language),
        }
    }

    fn check_project(&self, language: Language, project: &Project) -> Result<(), TrialError> {
        project::plan(&self.0, language, project).map(drop)
    }

    fn run_alone(&self, at: &Context, trial: &Trial) -> Result<Verdict, TrialError> {
        let node = self.tool()?;
        check(node, trial.language)?;
        single::run(&Runs { at, node, limits: trial.limits }, trial)
    }

    fn kept(&self, at: &Context) -> Option<Kept> {
        let node = self.tool().ok().map(|tool| tool.program.clone());
        let others = [&runtime::BUN, &runtime::DENO].into_iter().flat_map(Runtime::installed);
        let packages = node.into_iter().chain(others).collect();
        // What npm, pnpm and yarn write when they install.
        let inner = [".package-lock.json", ".modules.yaml", ".yarn-state.yml", ".yarn-integrity"];
        let inner = inner.map(PathBuf::from).to_vec();
        Some(Kept { folder: at.baselines()?, setting: project::reporters(), packages, inner })
    }

    fn run_in_project(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
        let kept = self.kept(at).filter(|_| trial.has_own_text());
        project::run(at, (&self.0, kept.as_ref()), trial, project)
    }
}

/// The first node that removes types by itself.
const REMOVES_TYPES: (u32, u32) = (22, 13);

/// Whether this node can run programs in this language by itself.
fn check(node: &Tool, language: Language) -> Result<(), TrialError> {
    if language == Language::TypeScript && node.version < REMOVES_TYPES {
        let (major, minor) = node.version;
        return Err(TrialError::Interpreter(format!(
            "TypeScript needs a test runner of its project (vitest, jest, mocha), tsx or ts-node beside node:test, or node 22.13 or newer, \
             which removes types by itself; none is installed for it, and {} is {major}.{minor}: install one, or give the tests as --test-command",
            node.program.display()
        )));
    }
    Ok(())
}

/// Whether the tests or the program import files of the project or installed packages.
fn needs_project(sources: &Sources) -> bool {
    let Sources { project, tests_file, program, tests } = *sources;
    // What types mean is for the project's own tools to say.
    let is_typed = [tests_file, &project.file].iter().any(|file| Language::of_path(file) == Some(Language::TypeScript));
    // Those of another program than node may use what node does not have.
    let is_another = |plan: &Plan| {
        let words = plan.row.runtime.map(|runtime| runtime.words).unwrap_or_default();
        words.iter().any(|word| program.contains(word) || tests.contains(word))
    };
    let is_its_own = |plan: Plan| is_typed && plan.reads_types(&project.root) || is_another(&plan);
    if Plan::of(project, tests, || false).is_ok_and(is_its_own) {
        return true;
    }
    [(program, project.file.as_path()), (tests, tests_file)]
        .iter()
        .any(|(text, from)| imports(text).any(|name| is_needed(project, from, name)))
}

/// What lines of JavaScript import or require.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let start = ["require(", "from ", "import "].iter().find_map(|word| {
            let rest = line[line.find(word)? + word.len()..].trim_start();
            rest.strip_prefix(['"', '\''])
        })?;
        start.split(['"', '\'']).next()
    })
}

/// Whether a specifier names a file of the project that is not the candidate's, or an installed package.
fn is_needed(project: &Project, from: &Path, name: &str) -> bool {
    if !name.starts_with('.') {
        let folders = from.ancestors().skip(1);
        return folders.map(|f| project.root.join(f).join("node_modules").join(name)).any(|path| path.exists());
    }
    let mut path = from.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(name).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(part) => path.push(part),
            _ => {}
        }
    }
    path.with_extension("") != project.file.with_extension("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_need_their_project_when_they_import_more_than_the_candidate() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project {
            root: folder.path().to_path_buf(),
            package: "".into(),
            file: "src/a.js".into(),
            tests: Some("test/a.test.js".into()),
            only: Vec::new(),
        };
        let tests_file = Path::new("test/a.test.js");
        let needs = |program, tests| needs_project(&Sources { project: &project, tests_file, program, tests });
        assert!(!needs("", "import { f } from '../src/a.js';\nconst fs = require('node:fs');\n"));
        assert!(needs("", "const b = require(\"../src/b\");\n") && needs("import x from './b.js'", ""));
    }
}
