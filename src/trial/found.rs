//! The tests that are found for a function: its examples, and tests by their names and by what they call.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::Tests;
use super::language;
use super::project::Project;
use super::project::find::Found;
use super::project::imports::imported;
use super::project::settings::is_setting;
use crate::code::Target;
use crate::files;
use crate::language::Language;

impl Tests {
    /// The examples in the documentation of a program. They run in a copy of its project, else in a folder
    /// made for it.
    pub fn of_examples(path: Option<&Path>) -> Self {
        let project = path.and_then(|path| Project::around(path, Some(path)));
        project.map_or_else(Self::own_examples, Tests::Project)
    }

    /// The examples in the documentation of a function, and true if one of them states an expected result; or
    /// the reason why there are none.
    pub fn examples(target: &Target) -> Result<(Self, bool), String> {
        language::examples(target)
    }

    /// The tests found for a function, the best first, each with its name for the reader and the reason. The
    /// later ones are for functions that the earlier ones are not sensitive to.
    pub fn found(target: &Target) -> Vec<(Self, String)> {
        let Some(path) = target.path.as_deref() else { return Vec::new() };
        let groups = language::find_tests(target.language, path, &target.name);
        let names: Vec<_> = groups.iter().flatten().map(|found| found.path.file_name().map(OsStr::to_owned)).collect();
        let one = |Found { path: tests, why }: Found| {
            let name = tests.file_name()?;
            let label = name.to_string_lossy().into_owned();
            // Of several files of this name, each with its folder.
            let folder = tests.parent().and_then(Path::file_name).map(OsStr::to_string_lossy);
            let is_alone = names.iter().flatten().filter(|other| *other == name).count() < 2;
            let label = folder.filter(|_| !is_alone).map_or(label.clone(), |folder| format!("{folder}/{label}"));
            if tests.is_dir() {
                let project = Project::around(path, Some(&tests))?;
                return Some((Tests::Project(project), format!("{label} ({why})")));
            }
            let text = files::text(&tests, files::TEXT).ok()?;
            Some((Self::of_file(Some(path), &tests, text), format!("{label} ({why})")))
        };
        let all = groups.into_iter();
        all.filter_map(|group| Self::all_of(group.into_iter().filter_map(one).collect())).collect()
    }

    /// The tests of a function if the user names none: its examples and the tests that were found, and the
    /// name of those that are tried first.
    pub fn usual(target: &Target, found: Vec<(Self, String)>) -> Option<(Self, String)> {
        // If the examples state no expected results, other tests are better.
        let examples = Self::examples(target).ok().filter(|(_, is_sensitive)| found.is_empty() || *is_sensitive);
        let examples = examples.map(|(tests, _)| (tests, "doctest".to_owned()));
        let mut found = found.into_iter();
        // The project's runner asks nothing of them: they decide only where its tests of the file say nothing.
        let (path, name) = (target.path.as_deref(), target.name.rsplit(['.', ':']).next().unwrap_or_default());
        let are_about = |tests: &Self| path.is_some_and(|path| are_about(target.language, path, name, tests));
        let (first, second) = match (found.next(), examples) {
            (Some(first), Some(examples)) if !language::runs_examples(target.language, path) && are_about(&first.0) => {
                (Some(first), Some(examples))
            }
            (first, examples) => (Self::all_of(examples.into_iter().chain(first).collect()), None),
        };
        let mut all: Vec<(Self, String)> = [first?].into_iter().chain(second).chain(found).collect();
        let label = all[0].1.clone();
        let are_own = all.len() == 1 && matches!(all[0].0, Tests::Lone(_));
        Some((if are_own { all.remove(0).0 } else { Self::FirstOf(all) }, label))
    }

    /// Tests that have to pass together, and their name for the reader; `None` if there are none.
    fn all_of(mut all: Vec<(Self, String)>) -> Option<(Self, String)> {
        if all.len() < 2 {
            return all.pop();
        }
        let (tests, names): (Vec<Self>, Vec<String>) = all.into_iter().unzip();
        Some((Self::Several(tests), names.join(" + ")))
    }
}

/// Returns true if the name of a file marks it as tests of a language, or as settings of tests.
pub fn is_of_tests(language: Language, path: &Path) -> bool {
    (language::row(language).tests.about)(path).is_some() || is_setting(path)
}

/// Returns true if one of the tests files is named after a file, or imports it or a function of it. Others
/// may only have a function of that name.
pub fn are_about(language: Language, file: &Path, function: &str, tests: &Tests) -> bool {
    let name = |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    // The file of a whole package stands for its folder.
    let is_own = |stem: &String| !Project::is_of_folder(stem) && !["src", "lib"].contains(&&**stem);
    let stem = file.ancestors().filter_map(name).find(is_own).unwrap_or_default();
    let is_meant = |word: &String| *word == stem || word == function;
    let is_about = |(path, text): &(PathBuf, String)| {
        tested_stem(language, path).is_some_and(|tested| tested == stem) || imported(text).iter().any(is_meant)
    };
    tests.files().iter().any(is_about)
}

/// The stem of the file that a tests file is named after, which may be empty; `None` if it is no tests file.
pub fn tested_stem(language: Language, path: &Path) -> Option<String> {
    (language::row(language).tests.about)(path)
}
