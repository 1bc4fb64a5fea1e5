//! The other files of a package.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use crate::files;

/// Most files of a package that are read.
const MAX_FILES: usize = 200;

/// The names that the other files of this file's package define.
pub(super) fn names(path: &Path) -> HashSet<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let others = entries.filter(|other| other.extension() == path.extension() && other.file_name() != path.file_name());
    let texts = others.take(MAX_FILES).filter_map(|other| files::text(&other, files::TEXT).ok());
    texts.flat_map(|text| defined(&text).map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// The names that a text defines at its left border, and in its lists of variables, constants and types.
fn defined(text: &str) -> impl Iterator<Item = &str> {
    let mut is_list = false;
    let lines = text.lines().filter_map(move |line| {
        let rest = ["func ", "type ", "var ", "const "].iter().find_map(|word| line.strip_prefix(word));
        match rest {
            Some(rest) => is_list = rest.trim() == "(",
            None if line.starts_with(')') => is_list = false,
            None => {}
        }
        rest.or_else(|| line.strip_prefix('\t').filter(|_| is_list))
    });
    // `a, b = 1, 2` defines two.
    let listed = lines.flat_map(|line| line.split(['=', '(', '[', '{']).next().unwrap_or_default().split(','));
    let name = |part: &'_ str| part.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(part.len());
    listed.map(str::trim).map(move |part| &part[..name(part)]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_types_variables_and_constants_are_names() {
        let text = "package p\n\nimport (\n\t\"fmt\"\n)\n\nvar log = new(fmt.Stringer)\n\nvar (\n\ta, b = 1, 2\n\tc int\n)\n\n\
                    const D = 1\n\nfunc (t T) m() {\n\tx := 1\n}\n\nfunc F[X any](x X) {\n\ty := x\n}\n\ntype T struct {\n\tz int\n}\n";
        assert_eq!(defined(text).collect::<Vec<_>>(), ["log", "a", "b", "c", "D", "F", "T"]);
    }
}
