//! The names that a source file imports, in any of the languages. To find files, all words of the statement
//! will do.

use std::path::{Component, Path, PathBuf};

/// The path that is meant by one which is relative to a file.
pub fn relative_to(file: &Path, path: &str) -> PathBuf {
    let mut meant = file.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(meant.pop()),
            Component::Normal(part) => meant.push(part),
            _ => {}
        }
    }
    meant
}

/// The quoted paths in the import statements of a text that are relative to its file.
pub fn imported_paths(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| loads(line) || line.contains(" from "));
    lines.flat_map(|line| line.split(['\'', '"', '`']).skip(1).step_by(2)).filter(|part| part.starts_with('.'))
}

/// The words of the import statements of a text.
pub fn imported(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if !loads(line) {
            continue;
        }
        let mut depth = take(line, &mut words);
        // Names in brackets may go on for lines.
        while depth > 0 {
            let Some(line) = lines.next() else { break };
            depth += take(line, &mut words);
        }
    }
    words
}

fn loads(line: &str) -> bool {
    let line = line.trim_start();
    let heads = ["import ", "import{", "from ", "export ", "mod ", "pub mod ", "use ", "pub use "];
    heads.iter().any(|head| line.starts_with(head))
        || ["require(", "import(", "import_module("].iter().any(|call| line.contains(call))
}

/// Collects the words of a line. Returns the number of brackets it opens less those it closes.
fn take(line: &str, words: &mut Vec<String>) -> i32 {
    let line = line.split(" #").next().unwrap_or_default();
    let parts = line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-' || c == '$'));
    words.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
    let count = |brackets: [char; 2]| line.matches(brackets).count() as i32;
    count(['(', '{']) - count([')', '}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_load_files_are_read_to_their_end() {
        let text = "x = secret\nfrom .a import (  # and more (\n    b as c,\n    d,\n)\nnone = 1\nimport e.f, g\n";
        let found = imported(text);
        for word in ["a", "b", "d", "e", "f", "g"] {
            assert!(found.iter().any(|other| other == word), "{word} in {found:?}");
        }
        assert!(!found.iter().any(|word| word == "secret" || word == "none"), "{found:?}");
        let found = imported("const t = require('./gen/table');\nimport {\n  one,\n} from './two.js';\n");
        assert!(["gen", "table", "one", "two"].iter().all(|word| found.iter().any(|other| other == word)), "{found:?}");
    }
}
