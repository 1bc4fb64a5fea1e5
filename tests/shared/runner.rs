//! Runner of trials in tests. `TIER=namespaces` (or `kernel rules`) has them run in a lesser tier than the
//! best one here.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bass_tui::language::Language;
use bass_tui::trial::{Runner, Tier};

use super::skip;

/// A runner of the best tier that is here and wanted.
pub fn probe() -> Runner {
    let Ok(wanted) = std::env::var("TIER") else { return Runner::probe() };
    let tiers = [Tier::Full, Tier::Namespaces, Tier::KernelRules];
    let tier = tiers.into_iter().find(|tier| tier.name() == wanted).expect("TIER is full, namespaces or kernel rules");
    let runner = Runner::probe_at_most(tier);
    assert_eq!(runner.protection().tier, wanted, "{}", runner.protection().missing.join("; "));
    runner
}

/// The runner, or nothing on a machine without a sandbox or the language: then a line says what is missing.
pub fn runner(language: Language) -> Option<Runner> {
    // Each test has its own, as what a runner keeps is removed with it. Go's library, which takes 20 s of two
    // cores, is compiled once.
    let runner = if language == Language::Go { probe().keeping(&go_builds()) } else { probe() };
    if !runner.protection().is_isolated() {
        skip::as_it_cannot("isolation", &runner.protection().summary);
        return None;
    }
    if let Err(error) = runner.check_language(language) {
        skip::for_want_of(language.name(), error);
        return None;
    }
    Some(runner)
}

/// The folder that Go's compiled packages are kept in from one test to the next.
fn go_builds() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-builds")
}

/// Gives another such folder the same compiled packages.
pub fn link_go_packages(builds: &Path) {
    let packages = go_builds().join("go/packages");
    for folder in [&packages, &builds.join("go")] {
        fs::create_dir_all(folder).unwrap();
    }
    symlink(&packages, builds.join("go/packages")).unwrap();
}

/// The program runs and ends well; else a line says what is missing.
pub fn has(program: &str, words: &[&str], what: &str) -> bool {
    let mut command = Command::new(program);
    let has = command.args(words).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|end| end.success());
    if !has {
        skip::for_want_of(what, format_args!("{program} does not run with {words:?}"));
    }
    has
}

/// Python and git, or nothing, and why.
pub fn python_and_git() -> Option<Runner> {
    runner(Language::Python).filter(|_| has("git", &["--version"], "git"))
}

/// Returns true if `python3` has pytest.
pub fn has_pytest() -> bool {
    has("python3", &["-c", "import pytest"], "pytest")
}

/// Node's own runner of tests as trials need it, or nothing, and why.
pub fn node() -> Option<Runner> {
    let is_new = "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)";
    runner(Language::JavaScript).filter(|_| has("node", &["-e", is_new], "node 20"))
}
