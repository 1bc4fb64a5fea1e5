//! Go: its row in the table of trials.
//!
//! - Tests are compiled with their module, offline. The candidate's package imports the guard, which
//!   therefore starts first and reports the end of each test.
//! - Everything `go test` runs is run: tests with subtests, examples with `// Output:` (`example`), seeds of
//!   fuzz tests. No benchmarks, and no files for other systems.
//! - Nothing of a candidate runs while it is compiled, so compiled packages are cached (`build_cache`).
//! - A panic ends all tests. One of a test that fails without ever calling the function hides what the others
//!   say: such tests are left out, by their names, and named.
//! - A module is built in a folder with a fixed name, since Go identifies packages by folder. Its content is
//!   made anew.
//! - A lone file is a module of one folder (`lone`).

mod build_cache;
mod example;
mod lone;
mod module;
mod project;
mod report;
mod suspicious;
mod text;

use build_cache::BuildCache;
use project::BuildFolders;

use crate::code::{Target, unmet_go_constraint};
use crate::language::Language;
use crate::trial::language::row::{
    BaselineCache, Context, LanguageRow, Lookup, Marks, Packages, Project, Recipe, Tool, Trial, TrialError,
    TrialLanguage, VacuityBody, Verdict, no_examples,
};

pub const ROW: LanguageRow = LanguageRow {
    languages: &[Language::Go],
    suspicious: suspicious::TABLE,
    bodies: [
        VacuityBody { what: "returns zero values", statements: zero },
        // The line is `CALLED`.
        VacuityBody {
            what: "panics",
            statements: |target| before(target, "println(\"control: called\")\n\tpanic(\"control\")"),
        },
    ],
    of_bodies: &["imported and not used", "declared and not used"],
    counts_calls: false,
    lay_out: lone::lay_out,
    tests: Marks {
        about: |path| Some(path.file_stem()?.to_str()?.strip_suffix("_test")?.to_owned()),
        begins: &["func Test", "func Fuzz", "func Example"],
        are_one_program: true,
        // The version of Go does not matter here.
        is_left_out: |path, text| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            unmet_go_constraint(stem, text, u32::MAX, module::tags()).is_some()
        },
        ..Marks::NONE
    },
    examples: no_examples,
    runs_examples: |_| true,
    open: || {
        Box::new(Go { tool: Lookup::new(&RECIPE), builds: BuildCache::default(), folders: BuildFolders::default() })
    },
};

/// A body that returns the zero value of each type.
fn zero(target: &Target) -> Vec<String> {
    let values =
        |types: Vec<String>| types.iter().map(|written| format!("*new({written})")).collect::<Vec<_>>().join(", ");
    target.returned().map_or_else(Vec::new, |types| before(target, &format!("return {}", values(types))))
}

/// Statements alone, and before the code of the function: imports that only it uses have to be used.
fn before(target: &Target, statements: &str) -> Vec<String> {
    let own = target.text.get(target.body.clone()).unwrap_or_default().trim_matches('\n');
    let with_own = (!own.trim().is_empty()).then(|| format!("{statements}\n{own}"));
    [statements.to_owned()].into_iter().chain(with_own).collect()
}

const RECIPE: Recipe = Recipe {
    language: "Go",
    names: &["go"],
    questions: &[&["env", "GOVERSION", "GOROOT"]],
    from_root: true,
    oldest: (1, 18),
    place: |folders| {
        let root = folders.first()?.canonicalize().ok()?;
        Some((root.join("bin/go"), vec![root]))
    },
};

/// A Go installation and its build cache.
#[derive(Debug)]
struct Go {
    tool: Lookup,
    builds: BuildCache,
    folders: BuildFolders,
}

impl TrialLanguage for Go {
    fn tool(&self) -> Result<&Tool, TrialError> {
        self.tool.get()
    }

    fn baseline_cache(&self, at: &Context, _trial: &Trial, _project: &Project) -> Option<BaselineCache> {
        let go = self.tool().ok()?;
        let (folder, setting) = (at.baselines()?, module::GUARD.as_bytes().to_vec());
        // Modules lie in a folder for each version, which go.mod and go.sum name.
        Some(BaselineCache { folder, setting, packages: vec![go.program.clone()], inner: Vec::new() })
    }

    fn packages(&self) -> Packages {
        let modules = self.tool().ok().and_then(|go| self.builds.modules(go));
        let environment = modules.iter().map(|folder| ("GOMODCACHE".into(), folder.into()));
        let offline = [("GOPROXY", "off"), ("GOTOOLCHAIN", "local")].map(|(name, value)| (name.into(), value.into()));
        let environment = environment.chain(offline).collect();
        Packages { readable: modules.into_iter().collect(), environment }
    }

    fn run(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
        let cache = self.baseline_cache(at, trial, project);
        let verdict = project::run(at, self.tool()?, (&self.builds, &self.folders, cache.as_ref()), trial, project)?;
        Ok(verdict.by("go test"))
    }
}
