//! JavaScript and TypeScript: their row in the table of trials.
//!
//! - The runner is the project's own (a row each in `runner`), with the options and variables of the script
//!   in `package.json` that names the tests, else of its first test script.
//! - Lone tests get the runner that they import or whose words they use (`words`), else node.
//! - A reporter is loaded before all other code. It watches the objects that runners and matchers rely on
//!   (`reporter/watch.js`). A change that only the candidate makes turns a pass into `Tampered`.
//! - tape, uvu and plain scripts are one row; the script is one test, judged by its end
//!   (`reporter/script.js`).
//! - Bun and deno write the report themselves (`junit`). Deno gets the permissions of the project's task,
//!   else all, and never fetches anything.
//! - Types are removed by the runner, by tsx, ts-node and others of the project (`types`), else by node.
//! - Calls on inputs (`observe`) are made by node, whatever runs the tests.
//! - Tests that say nothing may load what a script makes of the code, which no trial does (`made`).
//! - Calls are not counted. Tests that fail with a candidate as without it are run with a body that ends the
//!   process, and with one that returns an unexpected value. They are left out if they end as before both
//!   times.

mod junit;
mod made;
mod mocharc;
mod observe;
mod project;
mod runner;
mod runtime;
mod script;
mod suspicious;
mod types;
mod words;

use std::path::{Path, PathBuf};

use runtime::Runtime;

use crate::language::Language;
use crate::trial::language::row::{
    BaselineCache, Context, Input, LanguageRow, Layout, Lookup, Marks, Observed, Project, Recipe, Tool, Trial,
    TrialError, TrialLanguage, VacuityBody, Verdict, no_examples,
};

/// The body that stands in the place of the function's.
const THROWS: &str = "throw new Error('control');";

pub const ROW: LanguageRow = LanguageRow {
    languages: &[Language::JavaScript, Language::TypeScript],
    suspicious: suspicious::TABLE,
    bodies: [
        VacuityBody { what: "returns nothing", statements: |_| vec!["return;".to_owned()] },
        VacuityBody { what: "throws", statements: |_| vec![THROWS.to_owned()] },
    ],
    of_bodies: &["but its value is never read"],
    counts_calls: true,
    lay_out,
    // Below a folder of tests lie helpers, too.
    tests: Marks {
        about,
        begins: &[
            "test", "it(", "describe", "suite", "context(", "specify(", "assert", "expect", "check(", "tape", "uvu",
            "throw ", "process.exit",
        ],
        ..Marks::NONE
    },
    examples: no_examples,
    runs_examples: |_| true,
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

/// Files get an extension that states their language, and a manifest, without which jest does not start. A
/// function `check(candidate)` that nothing calls is called.
fn lay_out(trial: &Trial, layout: &mut Layout) {
    let defined = |text: &str| ["function check(", "const check ="].iter().any(|head| text.contains(head));
    let is_left =
        |text: &str| defined(text) && text.matches("check(").count() == text.matches("function check(").count();
    if let (Some((_, text)), Some(name)) = (&mut layout.tests, &trial.entry_point)
        && is_left(text)
    {
        text.extend(["\ncheck(", name, ");\n"]);
    }
    let own = trial.language;
    let tests = layout.tests.iter_mut().map(|(path, _)| path);
    for path in [&mut layout.file].into_iter().chain(tests) {
        if !Language::of_path(path).is_some_and(|language| language.is_kin(own)) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            path.set_file_name(format!("{name}.{}", own.extensions().first().copied().unwrap_or("js")));
        }
    }
    // Jest and vitest require this file name.
    if let Some((path, text)) = &mut layout.tests
        && text.contains("expect(")
        && let (Some(stem), Some(ending)) = (path.file_stem(), path.extension())
        && ![".test", ".spec"].iter().any(|end| stem.to_string_lossy().ends_with(end))
    {
        path.set_file_name(format!("{}.test.{}", stem.display(), ending.display()));
    }
    layout.files.push(("package.json".into(), "{}\n".to_owned()));
}

/// The file that a tests file tests, as the runners know it: by a part of its name, or by its folder.
fn about(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_str()?;
    // Tests of types, which only a compiler reads.
    if [".test-d", ".spec-d"].iter().any(|end| name.ends_with(end)) {
        return None;
    }
    let stem = [".test", ".spec", "_test", "-test", ".tests"].iter().find_map(|end| name.strip_suffix(end));
    let stem = stem.or_else(|| ["test-", "test_"].iter().find_map(|start| name.strip_prefix(start)));
    let folders = ["__tests__", "test", "tests", "spec"];
    let in_folder = || path.parent().is_some_and(|p| p.iter().any(|part| folders.iter().any(|name| part == *name)));
    let is_one = || in_folder() || ["test", "tests"].contains(&name);
    stem.or_else(|| is_one().then_some(name)).map(str::to_owned)
}

/// The programs that run JavaScript, each looked for when it is needed.
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
    /// The program that runs the tests of a runner.
    fn of(&self, row: &runner::RunnerRow) -> Result<&Tool, TrialError> {
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
            Language::JavaScript => project::parse(at, self.tool()?, name, text),
            _ => self.tool().map(drop),
        }
    }

    fn check_project(&self, language: Language, project: &Project) -> Result<(), TrialError> {
        project::plan(&self.0, language, project).map(drop)
    }

    fn baseline_cache(&self, at: &Context, _trial: &Trial, _project: &Project) -> Option<BaselineCache> {
        let node = self.tool().ok().map(|tool| tool.program.clone());
        let others = [&runtime::BUN, &runtime::DENO].into_iter().flat_map(Runtime::installed);
        let packages = node.into_iter().chain(others).collect();
        // Files that npm, pnpm and yarn write on installation.
        let inner = [".package-lock.json", ".modules.yaml", ".yarn-state.yml", ".yarn-integrity"];
        let inner = inner.map(PathBuf::from).to_vec();
        Some(BaselineCache { folder: at.baselines()?, setting: project::reporters(), packages, inner })
    }

    fn run(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
        let cache = self.baseline_cache(at, trial, project).filter(|_| trial.has_own_text());
        project::run(at, (&self.0, cache.as_ref()), trial, project)
    }

    fn why_idle(&self, project: &Project) -> Option<String> {
        made::loaded(project)
    }

    fn observe(
        &self,
        at: &Context,
        trial: &Trial,
        project: &Project,
        inputs: &[Input],
    ) -> Result<Vec<Observed>, TrialError> {
        observe::run(at, self.tool()?, trial, project, inputs)
    }
}

/// The first node version that removes types by itself.
const REMOVES_TYPES: (u32, u32) = (22, 13);

/// Refuses a node that cannot run programs in this language by itself.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;
    use crate::trial::language::find_tests;

    #[test]
    fn a_helper_beside_the_tests_is_none_of_them() {
        let folder = tempfile::tempdir().unwrap();
        files::write_all(
            folder.path(),
            [
                ("package.json", "{\"name\":\"a\",\"scripts\":{\"test\":\"bun test\"}}"),
                ("src/utils.ts", "export function double(n: number) {\n  return 2 * n;\n}\n"),
                ("test/utils.ts", "export const ask = (path: string) => new Request(`http://localhost${path}`);\n"),
                (
                    "test/main.test.ts",
                    "import { it } from 'bun:test';\nimport { double } from '../src/utils';\nit('doubles', () => double(1));\n",
                ),
            ],
        );
        let groups = find_tests(Language::TypeScript, &folder.path().join("src/utils.ts"), "double");
        let names: Vec<_> = groups.iter().flatten().filter_map(|found| found.path.file_name()?.to_str()).collect();
        assert_eq!(names, ["main.test.ts"]);
    }
}
