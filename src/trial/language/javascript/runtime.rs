//! Bun and deno: programs that run JavaScript and its tests, and write a test report themselves.
//!
//! The report is written to a file once all tests have ended, by native code. Its name is the nonce of the
//! run, which code under test does not know. A process that is ended before that leaves no report.

use std::env;
use std::path::PathBuf;

use crate::sandbox::ADDRESSES;
use crate::trial::language::row::{Recipe, TestEnd};
use crate::trial::project::settings;

/// A program that is both engine and test runner.
#[derive(Debug)]
pub struct Runtime {
    pub recipe: Recipe,
    /// File names that show a project uses it.
    pub files: &'static [&'static str],
    /// Permissions if no script states any.
    pub usual: &'static [&'static str],
    /// Variables that it needs.
    pub environment: &'static [(&'static str, &'static str)],
    /// The cache of installed packages outside of the project: its variable, and the folder's name in the
    /// user's cache.
    pub cache: Option<(&'static str, &'static str)>,
    /// Address space that it reserves.
    pub addresses: u64,
    /// True if it has to read its own memory map.
    pub sees_own_map: bool,
}

pub const BUN: Runtime = Runtime {
    recipe: Recipe {
        language: "bun test",
        names: &["bun"],
        questions: &[&["-p", "process.versions.bun + '\\n' + process.execPath"]],
        from_root: true,
        // Bun 1.3 aborts in the sandbox, or writes another report.
        oldest: (1, 4),
        place: |places| Some((places.first()?.canonicalize().ok()?, Vec::new())),
    },
    files: &[settings::BUN, "bun.lock", "bun.lockb"],
    usual: &[],
    environment: &[("BUN_RUNTIME_TRANSPILER_CACHE_PATH", "0"), ("DO_NOT_TRACK", "1")],
    cache: None,
    addresses: 0,
    sees_own_map: true,
};

pub const DENO: Runtime = Runtime {
    recipe: Recipe {
        language: "deno test",
        names: &["deno"],
        questions: &[&["eval", "console.log(Deno.version.deno + '\\n' + Deno.execPath())"]],
        from_root: true,
        // Early versions of 2.6 abort in the sandbox.
        oldest: (2, 7),
        place: |places| Some((places.first()?.canonicalize().ok()?, Vec::new())),
    },
    files: settings::DENO,
    // The sandbox restricts it already.
    usual: &["--allow-all"],
    environment: &[("DENO_NO_UPDATE_CHECK", "1"), ("DENO_NO_PROMPT", "1")],
    cache: Some(("DENO_DIR", "deno")),
    addresses: ADDRESSES,
    sees_own_map: false,
};

impl Runtime {
    /// Files that change with another version or other packages, as far as that shows without a start.
    pub fn installed(&self) -> Vec<PathBuf> {
        let path = env::var_os("PATH").unwrap_or_default();
        let programs = env::split_paths(&path).flat_map(|folder| self.recipe.names.iter().map(move |n| folder.join(n)));
        let program = programs.into_iter().find(|program| program.is_file());
        let packages = self.packages().into_iter().flat_map(|folder| ["npm", "remote"].map(|name| folder.join(name)));
        program.into_iter().chain(packages).collect()
    }

    /// The folder of installed packages, if there is one.
    pub fn packages(&self) -> Option<PathBuf> {
        let (variable, name) = self.cache?;
        let named = |variable: &str| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        let in_cache = || Some(named("XDG_CACHE_HOME").or_else(|| Some(env::home_dir()?.join(".cache")))?.join(name));
        named(variable).or_else(in_cache)?.canonicalize().ok().filter(|folder| folder.is_dir())
    }
}

/// The tests asked for by their title or by their last titles, or a sentence that one does not exist.
pub fn asked(tests: Vec<TestEnd>, only: &[String]) -> (Vec<TestEnd>, String) {
    let is = |test: &TestEnd, asked: &str| format!(" > {} > ", test.name).contains(&format!(" > {asked} > "));
    let missing = only.iter().find(|asked| !tests.iter().any(|test| is(test, asked)));
    let complaint = missing.map(|asked| format!("there is no test \"{asked}\"")).unwrap_or_default();
    let is_asked = |test: &TestEnd| only.is_empty() || only.iter().any(|asked| is(test, asked));
    (tests.into_iter().filter(is_asked).collect(), complaint)
}

/// Splits the output into printed text and the changes reported by the reporter's lines in it.
pub fn changes(output: &str) -> (String, Vec<String>) {
    let mut changed = Vec::new();
    let rest = output.split_inclusive('\n').filter(|line| match line.trim_end().split_once("\u{1}changed ") {
        Some((_, name)) => {
            changed.push(name.to_owned());
            false
        }
        None => true,
    });
    let rest: String = rest.collect();
    (rest, changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::language::row::Outcome;

    #[test]
    fn a_test_is_known_by_its_last_titles() {
        let tests = || ["a", "g > a", "g > b"].map(|name| TestEnd::new(name, Outcome::Passed)).to_vec();
        let names = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
            let (tests, complaint) = asked(tests(), &only);
            (tests.into_iter().map(|test| test.name).collect::<Vec<_>>(), complaint)
        };
        assert_eq!(names(&["g"]).0, ["g > a", "g > b"]);
        assert_eq!(names(&["a"]).0, ["a", "g > a"]);
        assert_eq!(names(&["g > b", "c"]).1, "there is no test \"c\"");
        assert_eq!(names(&[]).0.len(), 3);
    }

    #[test]
    fn lines_of_ours_are_taken_out_of_what_was_printed() {
        let (output, changed) = changes("a\n\n\u{1}changed Array.prototype.map\nb");
        assert_eq!((output.as_str(), changed), ("a\n\nb", vec!["Array.prototype.map".to_owned()]));
    }
}
