//! The place that the user names: `stats.py:mean` and its variants as data.

use std::path::{Path, PathBuf};

use super::CodeError;

/// The place that the user names: a file and a place in it, as in `stats.py:mean`, `stats.py:12`,
/// `stats.py::Class::method`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetSpec {
    /// The file.
    pub path: PathBuf,
    /// The place.
    pub place: Place,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Not given: the first unfinished, or the only, function.
    Any,
    /// A function by name; methods as `Class.method` or `Class::method`.
    Function(String),
    /// The function that holds this line (1-based).
    Line(usize),
}

impl TargetSpec {
    /// Reads `FILE`, `FILE:FUNCTION`, `FILE:Class.method`, `FILE:Class::method`, `FILE:LINE`,
    /// `FILE:LINE:COLUMN` (the column does not matter) and `FILE::Class::method`. An existing file of exactly
    /// this name wins.
    pub fn parse(text: &str) -> Result<Self, CodeError> {
        Self::parse_where(text, &|path| path.is_file())
    }

    /// [`TargetSpec::parse`] with the file test as an argument.
    fn parse_where(text: &str, is_file: &dyn Fn(&Path) -> bool) -> Result<Self, CodeError> {
        let wrong = |problem: &str| CodeError::Spec { text: text.to_owned(), problem: problem.to_owned() };
        if text.trim().is_empty() {
            return Err(wrong("it is empty"));
        }
        if is_file(Path::new(text)) {
            return Ok(Self { path: text.into(), place: Place::Any });
        }
        // In `FILE:Type::method` the file ends with the single colon.
        let of_type = |path: &'_ str| {
            let at = path.rfind(':').filter(|at| !path[..*at].ends_with(':') && is_dotted_name(&path[at + 1..]))?;
            (at > 0 && !is_file(Path::new(path))).then_some(at)
        };
        // A double colon may be part of the file's name. The first one after an existing file counts, else
        // the first.
        let pairs = || text.match_indices("::").map(|(at, _)| (of_type(&text[..at]).unwrap_or(at), at));
        if let Some((file, at)) =
            pairs().find(|(file, _)| is_file(Path::new(&text[..*file]))).or_else(|| pairs().next())
        {
            let path = &text[..file];
            let name = if file < at { &text[file + 1..] } else { &text[at + 2..] };
            if path.is_empty() {
                return Err(wrong("the file name before `::` is missing"));
            }
            let name = name.replace("::", ".");
            if !is_dotted_name(&name) {
                return Err(wrong("a function name is expected after `::`"));
            }
            return Ok(Self { path: path.into(), place: Place::Function(name) });
        }
        let Some((path, tail)) = text.rsplit_once(':') else {
            return Ok(Self { path: text.into(), place: Place::Any });
        };
        if tail.contains(['/', '\\']) {
            return Ok(Self { path: text.into(), place: Place::Any });
        }
        if path.is_empty() {
            return Err(wrong("the file name before `:` is missing"));
        }
        let is_number = |t: &str| !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
        if is_number(tail) {
            let (path, line) = match path.rsplit_once(':') {
                Some((path, line)) if is_number(line) && !path.is_empty() => (path, line),
                _ => (path, tail),
            };
            return match line.parse() {
                Ok(0) => Err(wrong("lines are counted from 1")),
                Ok(line) => Ok(Self { path: path.into(), place: Place::Line(line) }),
                Err(_) => Err(wrong("the line number is too large")),
            };
        }
        if !is_dotted_name(tail) {
            return Err(wrong("a function name or a line number is expected after `:`"));
        }
        Ok(Self { path: path.into(), place: Place::Function(tail.to_owned()) })
    }
}

/// Returns true if `text` consists of names with dots between them. JavaScript has `$` in names and `#`
/// before private ones.
fn is_dotted_name(text: &str) -> bool {
    text.split('.').all(|part| {
        let name = part.strip_prefix('#').unwrap_or(part);
        name.chars().next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<(String, Place), String> {
        let files = ["a:b.py", "we::ird.py", "stats.py", "12"];
        TargetSpec::parse_where(text, &|p| files.iter().any(|f| Path::new(f) == p))
            .map(|s| (s.path.display().to_string(), s.place))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn forms() {
        let function = |name: &str| Place::Function(name.to_owned());
        for (text, path, place) in [
            ("stats.py", "stats.py", Place::Any),
            ("missing.py", "missing.py", Place::Any),
            ("stats.py:mean", "stats.py", function("mean")),
            ("stats.py:Bag.mean", "stats.py", function("Bag.mean")),
            ("stats.py::mean", "stats.py", function("mean")),
            ("stats.py::Bag::mean", "stats.py", function("Bag.mean")),
            ("stats.py:Bag::mean", "stats.py", function("Bag.mean")),
            ("missing.rs:bags::Bag::mean", "missing.rs", function("bags.Bag.mean")),
            ("we::ird.py:Bag::mean", "we::ird.py", function("Bag.mean")),
            ("stats.py:12", "stats.py", Place::Line(12)),
            ("stats.py:12:7", "stats.py", Place::Line(12)),
            ("a:b.py", "a:b.py", Place::Any),
            ("a:b.py:f", "a:b.py", function("f")),
            ("we::ird.py::f", "we::ird.py", function("f")),
            ("we::ird.py", "we::ird.py", Place::Any),
            (r"C:\stats.py", r"C:\stats.py", Place::Any),
            ("stack.ts:Stack.#push", "stack.ts", function("Stack.#push")),
            ("stack.js:$", "stack.js", function("$")),
            ("stats.py:größe", "stats.py", function("größe")),
        ] {
            assert_eq!(parse(text), Ok((path.to_owned(), place)), "{text}");
        }
    }

    #[test]
    fn wrong_forms_are_explained() {
        for text in [
            "", "  ", ":f", "::f", "stats.py:", "stats.py::", "stats.py:0", "stats.py:a b",
            "stats.py:99999999999999999999",
        ] {
            let message = parse(text).unwrap_err();
            assert!(message.contains("FILE:FUNCTION") && message.contains(text), "{message}");
        }
    }
}
