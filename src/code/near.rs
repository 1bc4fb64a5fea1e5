//! A file that may be meant by a name that does not exist.

use std::fs;
use std::path::Path;

use similar::get_close_matches;

use crate::language::Language;

/// Most entries of folders that are looked at.
const MOST: usize = 3000;
/// Folders below the given one that are looked through.
const DEPTH: usize = 4;
/// Folders of installed packages and build products.
const LEFT_OUT: &[&str] = &["node_modules", "target", "vendor", "dist", "build"];

/// The source file or folder beside `path` with the most similar name, else a file of this name in a folder
/// below.
pub fn nearest(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let parent = path.parent().unwrap_or(Path::new(""));
    let mut left = MOST;
    let entries = entries(parent, &mut left);
    let is_meant = |(name, is_folder): &&(String, bool)| {
        // A name without an ending may be that of a folder.
        if *is_folder { path.extension().is_none() } else { Language::of_path(Path::new(name)).is_some() }
    };
    // Endings are alike too often to say anything.
    let stem = |name: &'_ str| Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let meant: Vec<(String, &str)> =
        entries.iter().filter(is_meant).filter_map(|(name, _)| Some((stem(name)?, name.as_str()))).collect();
    let stems: Vec<&str> = meant.iter().map(|(stem, _)| stem.as_str()).collect();
    let wanted = stem(name)?;
    if let Some(near) = get_close_matches(wanted.as_str(), &stems, 1, 0.6).first()
        && let Some((_, near)) = meant.iter().find(|(stem, _)| stem.as_str() == *near)
    {
        return Some(parent.join(near).display().to_string());
    }
    below(parent, name, DEPTH, &mut left)
}

/// The first file of this name below a folder.
fn below(folder: &Path, name: &str, depth: usize, left: &mut usize) -> Option<String> {
    let entries = entries(folder, left);
    if entries.iter().any(|(entry, is_folder)| !is_folder && entry == name) {
        return Some(folder.join(name).display().to_string());
    }
    let depth = depth.checked_sub(1)?;
    let folders = entries.iter().filter(|(entry, is_folder)| *is_folder && !LEFT_OUT.contains(&entry.as_str()));
    folders.into_iter().find_map(|(entry, _)| below(&folder.join(entry), name, depth, left))
}

/// Names in a folder, sorted, and true for folders; without hidden ones and links.
fn entries(folder: &Path, left: &mut usize) -> Vec<(String, bool)> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let known = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'))?;
        let kind = entry.file_type().ok()?;
        (kind.is_dir() || kind.is_file()).then_some((name, kind.is_dir()))
    };
    let read = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut entries = Vec::new();
    for entry in read.take(*left) {
        *left -= 1;
        entries.extend(known(entry));
    }
    entries.sort();
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::write_all;

    #[test]
    fn a_similar_name_beside_it_or_the_same_name_below_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("lists.py", ""),
            ("list.txt", ""),
            ("src/deep/numbers.py", ""),
            ("node_modules/numbers.js", ""),
            (".hidden/secret.py", ""),
            ("stats/a.py", ""),
        ];
        write_all(folder.path(), files);
        let cases = [
            ("list.py", Some("lists.py")),
            ("numbers.py", Some("src/deep/numbers.py")),
            ("numbers.js", None),
            ("secret.py", None),
            ("statz", Some("stats")),
            ("entirely_different.go", None),
            ("no.py", None),
            ("src/numbers.py", Some("src/deep/numbers.py")),
            ("gone/numbers.py", None),
        ];
        for (name, meant) in cases {
            let meant = meant.map(|meant| folder.path().join(meant).display().to_string());
            assert_eq!(nearest(&folder.path().join(name)), meant, "{name}");
        }
    }
}
