//! Functions that were written in this session, for the line that is left when it ends.

use std::path::Path;

use crate::code::Applied;

/// A function that was written.
struct Write {
    name: String,
    code: String,
    applied: Applied,
}

/// Functions that were written and not taken back, the last one last.
#[derive(Default)]
pub(super) struct Written(Vec<Write>);

impl Written {
    pub fn add(&mut self, name: &str, code: String, applied: &Applied) {
        self.0.push(Write { name: name.to_owned(), code, applied: applied.clone() });
    }

    /// A write was taken back. It may be one of an earlier session.
    pub fn remove(&mut self, applied: &Applied) {
        if let Some(at) = self.0.iter().rposition(|write| write.applied == *applied) {
            self.0.remove(at);
        }
    }

    /// The code of the function that was written last.
    pub fn code(&self) -> Option<&str> {
        self.0.last().map(|write| write.code.as_str())
    }

    /// `mean and sum were written to a.py, pop to b.py`, and how to take them back if that is possible; empty
    /// if nothing was written.
    pub fn words(&self, can_undo: bool) -> String {
        let mut files: Vec<(&Path, Vec<&str>)> = Vec::new();
        for Write { name, applied, .. } in &self.0 {
            let names = files.iter_mut().find(|(path, _)| *path == applied.path);
            match names {
                Some((_, names)) if names.contains(&name.as_str()) => {}
                Some((_, names)) => names.push(name),
                None => files.push((&applied.path, vec![name])),
            }
        }
        let of = |(at, (path, names)): (usize, &(&Path, Vec<&str>))| {
            let verb = match (at, names.len()) {
                (0, 1) => " was written",
                (0, _) => " were written",
                _ => "",
            };
            format!("{}{verb} to {}", listed(names), path.display())
        };
        let undo = match self.0.len() {
            _ if !can_undo => "",
            0 => "",
            1 => "; `bass-tui undo` takes it back",
            _ => "; each `bass-tui undo` takes one write back, the last one first",
        };
        files.iter().enumerate().map(of).collect::<Vec<_>>().join(", ") + undo
    }
}

/// `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(path: &str, after: &str) -> Applied {
        Applied { path: path.into(), before: Vec::new(), after: after.into(), backup: None }
    }

    #[test]
    fn all_that_was_written_and_not_taken_back_is_named() {
        let mut written = Written::default();
        assert_eq!((written.words(true).as_str(), written.code()), ("", None));
        let mut add =
            |name: &str, path: &str, after: &str| written.add(name, format!("def {name}"), &applied(path, after));
        add("initials", "util.py", "1");
        add("wrap", "util.py", "2");
        let undo = "; each `bass-tui undo` takes one write back, the last one first";
        assert_eq!(written.words(true), format!("initials and wrap were written to util.py{undo}"));
        let mut add =
            |name: &str, path: &str, after: &str| written.add(name, format!("def {name}"), &applied(path, after));
        add("pop", "queue.py", "1");
        add("slug", "util.py", "3");
        add("slug", "util.py", "4");
        assert_eq!(written.words(false), "initials, wrap and slug were written to util.py, pop to queue.py");
        for after in ["2", "3", "4"] {
            written.remove(&applied("util.py", after));
        }
        written.remove(&applied("of_another_session.py", "1"));
        assert_eq!(written.words(false), "initials was written to util.py, pop to queue.py");
        assert_eq!(written.code(), Some("def pop"));
        written.remove(&applied("queue.py", "1"));
        assert_eq!(written.words(true), "initials was written to util.py; `bass-tui undo` takes it back");
    }
}
