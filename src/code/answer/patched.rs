//! An answer that is a patch of the file.

use std::ffi::OsStr;
use std::path::Path;

/// Returns true if a block between fences is a patch.
pub(super) fn is_patch(info: &str, text: &str) -> bool {
    let word = info.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default().to_ascii_lowercase();
    if matches!(word.as_str(), "diff" | "patch" | "udiff") {
        return true;
    }
    // One that is named as code has to begin like a patch.
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty() || line.starts_with("diff --git "));
    let first = lines.next().unwrap_or_default();
    first.starts_with("@@ -") || first.starts_with("--- ") && lines.next().is_some_and(|line| line.starts_with("+++ "))
}

/// The lines of a patch that stand together.
#[derive(Default)]
struct Hunk<'a> {
    /// Lines that stay or go, and lines that stay or come. Each with true if it stays.
    old: Vec<(bool, &'a str)>,
    new: Vec<(bool, &'a str)>,
}

/// The hunks of a patch for a file of this name.
fn hunks<'a>(name: Option<&OsStr>, patch: &'a str) -> Vec<Hunk<'a>> {
    let mut found: Vec<Hunk<'_>> = Vec::new();
    let mut is_of_file = true;
    let mut lines = patch.lines().peekable();
    while let Some(line) = lines.next() {
        let is_header = ["diff --git ", "index ", "new file mode", "\\ No newline"];
        if is_header.iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        if line.starts_with("--- ")
            && let Some(path) = lines.peek().and_then(|next| next.strip_prefix("+++ "))
        {
            let path = Path::new(path.split('\t').next().unwrap_or(path).trim());
            is_of_file = name.is_none() || path.file_name() == name;
            lines.next();
            continue;
        }
        if !is_of_file {
            continue;
        }
        if line.starts_with("@@") {
            found.push(Hunk::default());
            continue;
        }
        if found.is_empty() {
            found.push(Hunk::default());
        }
        let Some(hunk) = found.last_mut() else { continue };
        match line.split_at_checked(1) {
            Some(("+", rest)) => hunk.new.push((false, rest)),
            Some(("-", rest)) => hunk.old.push((false, rest)),
            // A line that stays may have lost the space in front of it.
            split => {
                let line = split.filter(|(mark, _)| *mark == " ").map_or(line, |(_, rest)| rest);
                hunk.old.push((true, line));
                hunk.new.push((true, line));
            }
        }
    }
    for Hunk { old, new } in &mut found {
        // Blank lines at the ends of the block are none of the file's.
        while old.last() == Some(&(true, "")) && new.last() == Some(&(true, "")) {
            old.pop();
            new.pop();
        }
    }
    found.retain(|hunk| hunk.new != hunk.old);
    found
}

/// The file with a patch, or the new lines of the patch where it is one of another text. `path`: that of the
/// file.
pub(super) fn patched(file: &str, path: Option<&Path>, patch: &str) -> String {
    let hunks = hunks(path.and_then(Path::file_name), patch);
    let mut lines: Vec<&str> = file.lines().collect();
    let mut from = 0;
    for hunk in &hunks {
        let Some(at) = place(&lines, &hunk.old, from) else {
            let new = hunks.iter().flat_map(|hunk| hunk.new.iter().map(|(_, line)| *line).chain([""]));
            return new.collect::<Vec<_>>().join("\n") + "\n";
        };
        // The file's own lines stay as they are.
        let own = lines[at..].iter().zip(&hunk.old).filter_map(|(line, (stays, _))| stays.then_some(*line));
        let mut own = own.collect::<Vec<_>>().into_iter();
        let new = hunk.new.iter().map(|&(stays, line)| if stays { own.next().unwrap_or(line) } else { line });
        let new: Vec<&str> = new.collect();
        from = at + new.len();
        lines.splice(at..at + hunk.old.len(), new);
    }
    lines.join("\n") + "\n"
}

/// Where the old lines of a hunk stand, behind line `from` if they do there. `None` if they do nowhere, or if
/// the hunk has none.
fn place(lines: &[&str], old: &[(bool, &str)], from: usize) -> Option<usize> {
    if old.iter().all(|(_, line)| line.trim().is_empty()) {
        return None;
    }
    let same: [fn(&str, &str) -> bool; 2] = [|a, b| a.trim_end() == b.trim_end(), |a, b| a.trim() == b.trim()];
    let stands = |at: usize, same: fn(&str, &str) -> bool| {
        lines.get(at..at + old.len()).is_some_and(|own| own.iter().zip(old).all(|(own, (_, line))| same(own, line)))
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
}
