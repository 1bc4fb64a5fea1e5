//! An answer that is a patch of the file.

use std::ffi::OsStr;
use std::path::Path;

use super::blocks::Block;

/// Lines in front of a hunk that are none of its own.
const HEADERS: [&str; 4] = ["diff --git ", "index ", "new file mode", "\\ No newline"];

/// Returns true if a block between fences is a patch.
pub(super) fn is_patch(block: &Block<'_>) -> bool {
    if matches!(&*block.language(), "diff" | "patch" | "udiff") {
        return true;
    }
    // One that is named as code has to begin like a patch.
    let is_in_front = |line: &&str| line.trim().is_empty() || line.starts_with(HEADERS[0]);
    let mut lines = block.text.lines().skip_while(is_in_front);
    let first = lines.next().unwrap_or_default();
    first.starts_with("@@ -") || first.starts_with("--- ") && lines.next().is_some_and(|line| line.starts_with("+++ "))
}

/// The lines of a patch that stand together, each with its mark: `+`, `-`, or a space for one that stays.
type Hunk<'a> = Vec<(char, &'a str)>;

/// The hunks of a patch for a file of this name.
fn hunks<'a>(name: Option<&OsStr>, patch: &'a str) -> Vec<Hunk<'a>> {
    let mut found: Vec<Hunk<'_>> = vec![Hunk::new()];
    let mut is_of_file = true;
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("--- ")
            && let Some(path) = lines.peek().and_then(|next| next.strip_prefix("+++ "))
        {
            let path = Path::new(path.split('\t').next().unwrap_or(path).trim());
            is_of_file = name.is_none() || path.file_name() == name;
            lines.next();
        } else if line.starts_with("@@") {
            found.push(Hunk::new());
        } else if is_of_file
            && !HEADERS.iter().any(|begin| line.starts_with(begin))
            && let Some(hunk) = found.last_mut()
        {
            let mark = line.chars().next().filter(|mark| matches!(mark, '+' | '-' | ' '));
            // A line that stays may have lost the space in front of it.
            hunk.push(mark.map_or((' ', line), |mark| (mark, &line[1..])));
        }
    }
    for hunk in &mut found {
        // Blank lines at the end of the block are none of the file's.
        while hunk.pop_if(|last| *last == (' ', "")).is_some() {}
    }
    found.retain(|hunk| hunk.iter().any(|(mark, _)| *mark != ' '));
    found
}

/// The file with a patch, or the new lines of the patch where it is one of another text. `path`: that of the
/// file.
pub(super) fn patched(file: &str, path: Option<&Path>, patch: &str) -> String {
    let hunks = hunks(path.and_then(Path::file_name), patch);
    let mut lines: Vec<&str> = file.lines().collect();
    let mut from = 0;
    for hunk in &hunks {
        let old: Vec<&str> = hunk.iter().filter(|(mark, _)| *mark != '+').map(|(_, line)| *line).collect();
        let Some(at) = place(&lines, &old, from) else {
            let new = |hunk: &Hunk<'_>| -> String {
                let new = hunk.iter().filter(|(mark, _)| *mark != '-');
                new.flat_map(|(_, line)| [line, "\n"]).collect()
            };
            return hunks.iter().map(new).collect::<Vec<_>>().join("\n");
        };
        let mut own = lines[at..at + old.len()].iter().copied();
        let new = hunk.iter().filter_map(|(mark, line)| match mark {
            '+' => Some(*line),
            '-' => own.next().and(None),
            // The file's own line stays as it is.
            _ => own.next(),
        });
        let new: Vec<&str> = new.collect();
        from = at + new.len();
        lines.splice(at..at + old.len(), new);
    }
    lines.join("\n") + "\n"
}

/// Where the old lines of a hunk stand, behind line `from` if they do there. `None` if they do nowhere, or if
/// the hunk has none.
fn place(lines: &[&str], old: &[&str], from: usize) -> Option<usize> {
    if old.iter().all(|line| line.trim().is_empty()) {
        return None;
    }
    let same: [fn(&str, &str) -> bool; 2] = [|a, b| a.trim_end() == b.trim_end(), |a, b| a.trim() == b.trim()];
    let stands = |at: usize, same: fn(&str, &str) -> bool| {
        lines.get(at..at + old.len()).is_some_and(|own| own.iter().zip(old).all(|(own, line)| same(own, line)))
    };
    let places = || (from..lines.len()).chain(0..from.min(lines.len()));
    same.into_iter().find_map(|same| places().find(|&at| stands(at, same)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_stay_are_those_of_the_file() {
        let file = "class A:\n    def f(self):\n        a = 1\n        return a\n";
        let patch = "@@ -2,3 +2,4 @@\n    def f(self):\n        a = 1\n+        a += 1\n        return a\n";
        assert_eq!(patched(file, None, patch), file.replace("a = 1\n", "a = 1\n        a += 1\n"));
    }

    #[test]
    fn blank_lines_behind_a_patch_are_none_of_the_file() {
        let patch = "@@ -1 +1 @@\n-a\n+b\n\n\n";
        assert_eq!(patched("a\nc\n", None, patch), "b\nc\n");
    }
}
