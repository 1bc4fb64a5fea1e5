//! Programs that fool the plain runner as well: docs/security.md lists them by name.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use bass_tui::trial::Verdict;

/// Returns true if a Python program is caught, marked, or listed.
pub fn is_known_to_fool(name: &str, verdict: &Verdict) -> bool {
    !verdict.has_passed() || verdict.is_marked() || listed().contains(name)
}

/// The names of the listed Python programs.
pub fn listed() -> HashSet<String> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/security.md")).unwrap();
    let (_, list) = text.split_once("## What fools the plain runner as well\n").unwrap();
    let (list, _) = list.split_once("\nJavaScript").unwrap();
    list.split('`').skip(1).step_by(2).filter(|name| !name.contains('/')).map(str::to_owned).collect()
}
