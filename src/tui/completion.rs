//! Completion of a path that is typed, and paths that name no model.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Most names in a sentence.
const NAMED: usize = 6;

/// A typed path as far as its folder, and the rest.
fn split(line: &str) -> (&str, &str) {
    line.split_at(line.rfind('/').map_or(0, |at| at + 1))
}

/// A path with the home folder in the place of `~`.
fn expanded(path: &str) -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match (path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')), home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(path),
    }
}

/// Names in the folder of a typed path, folders with `/`.
pub fn names(line: &str) -> Vec<String> {
    let folder = expanded(split(line).0);
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { &folder };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let name = |entry: fs::DirEntry| {
        let end = if entry.path().is_dir() { "/" } else { "" };
        Some(format!("{}{end}", entry.file_name().to_str()?))
    };
    let mut names: Vec<String> = entries.filter_map(Result::ok).filter_map(name).collect();
    names.sort();
    names
}

/// A typed path with what all of the names have in common that go on with it, and these names. Pure.
pub fn completed(line: &str, names: &[String]) -> (String, Vec<String>) {
    if line == "~" {
        return ("~/".to_owned(), Vec::new());
    }
    let (folder, begun) = split(line);
    // Hidden ones are asked for.
    let fits = |name: &&String| name.starts_with(begun) && (begun.starts_with('.') || !name.starts_with('.'));
    let fitting: Vec<String> = names.iter().filter(fits).cloned().collect();
    let Some(first) = fitting.first() else { return (line.to_owned(), fitting) };
    let is_common =
        |end: usize| first.is_char_boundary(end) && fitting.iter().all(|name| name.starts_with(&first[..end]));
    let end = (begun.len()..=first.len()).rev().find(|&end| is_common(end)).unwrap_or(begun.len());
    (format!("{folder}{}", &first[..end]), fitting)
}

/// A name without the number of its part: `m-00001-of-00002.gguf` is one of the parts of `m.gguf`.
fn whole(name: &str) -> &str {
    let stem = name.trim_end_matches(".gguf");
    let parts: Vec<&str> = stem.rsplitn(4, '-').collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match parts[..] {
        [all, "of", part, whole] if is_number(all) && is_number(part) => whole,
        _ => stem,
    }
}

fn is_gguf(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end.eq_ignore_ascii_case("gguf"))
}

/// Why a folder names no model, if it holds several GGUF files: a sentence with their names. Pure.
pub fn several(folder: &str, names: &[String]) -> Option<String> {
    if names.iter().any(|name| name == "config.json") {
        return None;
    }
    let files: Vec<&String> = names.iter().filter(|name| is_gguf(name)).collect();
    let models: BTreeSet<&str> = files.iter().map(|name| whole(name)).collect();
    if models.len() < 2 {
        return None;
    }
    let mut named: Vec<&str> = files.iter().take(NAMED).map(|name| name.as_str()).collect();
    let more = files.len() - named.len();
    let last = if more > 0 { format!("{more} more") } else { named.pop().unwrap_or_default().to_owned() };
    Some(format!("{folder} holds several GGUF files: {} and {last}; name one of them", named.join(", ")))
}

/// Why a typed path names no model, if its folder holds several.
pub fn refused(path: &str) -> Option<String> {
    let folder = format!("{}/", path.trim_end_matches('/'));
    expanded(path).is_dir().then(|| several(path, &names(&folder)))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_path_is_completed_as_far_as_its_names_are_the_same() {
        let names = of(&[".cache/", "llama-q4.gguf", "llama-q8.gguf", "real/"]);
        assert_eq!(completed("/m/r", &names), ("/m/real/".to_owned(), of(&["real/"])));
        assert_eq!(completed("/m/l", &names), ("/m/llama-q".to_owned(), of(&["llama-q4.gguf", "llama-q8.gguf"])));
        assert_eq!(completed("/m/x", &names), ("/m/x".to_owned(), Vec::new()));
        assert_eq!(completed("", &names).1.len(), 3, "none that are hidden");
        assert_eq!(completed("./.c", &names).0, "./.cache/");
        assert_eq!(completed("é", &of(&["éa", "éà"])).0, "é", "whole characters");
        assert_eq!(completed("~", &[]).0, "~/");
    }

    #[test]
    fn a_folder_of_several_models_names_none() {
        let say = |names: &[&str]| several("/m", &of(names));
        let both = "/m holds several GGUF files: a.gguf and b.gguf; name one of them";
        assert_eq!(say(&["a.gguf", "b.gguf", "notes.txt"]).as_deref(), Some(both));
        for one in
            [&["a.gguf"][..], &["a-00001-of-00002.gguf", "a-00002-of-00002.gguf"], &["a.gguf", "b.gguf", "config.json"]]
        {
            assert_eq!(say(one), None, "{one:?}");
        }
        let many: Vec<String> = (0..9).map(|n| format!("{n}.gguf")).collect();
        assert!(several("m", &many).unwrap().contains("5.gguf and 3 more; name one"));
    }

    #[test]
    fn names_of_a_folder_are_read_with_those_of_folders_marked() {
        let folder = tempfile::tempdir().unwrap();
        crate::files::write_all(folder.path(), [("a.gguf", ""), ("b.gguf", ""), ("sub/c.gguf", "")]);
        let path = folder.path().display().to_string();
        assert_eq!(names(&format!("{path}/a")), of(&["a.gguf", "b.gguf", "sub/"]));
        assert!(refused(&path).unwrap().contains("a.gguf and b.gguf"));
        assert_eq!((refused(&format!("{path}/sub")), refused(&format!("{path}/a.gguf"))), (None, None));
    }
}
