//! Go: its row in the table of trials.

mod constraint;
mod example;
mod module;
mod project;
mod reach;
mod report;
mod single;
mod store;
mod text;

use project::Places;
use store::Store;

use crate::language::Language;
use crate::trial::language::row::{
    Context, Kept, Lookup, Marks, Project, Recipe, Row, Tool, Trial, TrialError, TrialLanguage, Verdict, no_examples,
};

pub const ROW: Row = Row {
    languages: &[Language::Go],
    reach: reach::REACH,
    // Tests in a module are compiled with it.
    needs_project: |sources| sources.project.has_above("go.mod"),
    tests: Marks {
        about: |path| Some(path.file_stem()?.to_str()?.strip_suffix("_test")?.to_owned()),
        begins: &["func Test", "func Fuzz", "func Example"],
        // Which Go there is does not matter here.
        is_left_out: |path, text| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            constraint::left_out(stem, text, u32::MAX).is_some()
        },
        ..Marks::NONE
    },
    examples: no_examples,
    open: || Box::new(Go { tool: Lookup::new(&RECIPE), store: Store::default(), places: Places::default() }),
};

const RECIPE: Recipe = Recipe {
    language: "Go",
    names: &["go"],
    questions: &[&["env", "GOVERSION", "GOROOT"]],
    from_root: true,
    oldest: (1, 18),
    place: |places| {
        let root = places.first()?.canonicalize().ok()?;
        Some((root.join("bin/go"), vec![root]))
    },
};

/// A Go, and what was built with it.
#[derive(Debug)]
struct Go {
    tool: Lookup,
    store: Store,
    places: Places,
}

impl TrialLanguage for Go {
    fn tool(&self) -> Result<&Tool, TrialError> {
        self.tool.get()
    }

    fn kept(&self, at: &Context) -> Option<Kept> {
        let go = self.tool().ok()?;
        let (folder, setting) = (at.baselines()?, module::GUARD.as_bytes().to_vec());
        // Modules lie in a folder for each version, which go.mod and go.sum name.
        Some(Kept { folder, setting, packages: vec![go.program.clone()], inner: Vec::new() })
    }

    fn run_alone(&self, at: &Context, trial: &Trial) -> Result<Verdict, TrialError> {
        single::run(at, self.tool()?, &self.store, trial)
    }

    fn run_in_project(&self, at: &Context, trial: &Trial, project: &Project) -> Result<Verdict, TrialError> {
        let kept = self.kept(at);
        project::run(at, self.tool()?, (&self.store, &self.places, kept.as_ref()), trial, project)
    }
}
