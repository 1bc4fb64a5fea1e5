//! The code that comes with a function.

use super::grown::Grown;
use super::imports::Import;

/// Code that comes with a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::code) struct Beside {
    /// Other members of its class, in its indentation.
    pub members: Vec<String>,
    pub imports: Vec<Import>,
    /// Functions, constants and types at the top of the file.
    pub helpers: Vec<String>,
    /// Decorators that its head lacks, without indentation.
    pub decorators: Vec<String>,
    /// Pieces of the file that get more lines.
    pub grown: Vec<Grown>,
}

impl Beside {
    /// Returns true if there is nothing.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
            && self.imports.is_empty()
            && self.helpers.is_empty()
            && self.decorators.is_empty()
            && self.grown.is_empty()
    }

    /// Its text, as it stands behind a function of this name.
    pub fn text(&self, name: &str) -> String {
        let grown = |is_member: bool| {
            let own = self.grown.iter().filter(move |grown| grown.is_member == is_member);
            own.flat_map(|grown| ["\n", grown.text.as_str()])
        };
        let mut out: String = self.members.iter().flat_map(|member| ["\n", member]).chain(grown(true)).collect();
        if !self.decorators.is_empty() {
            out += &["\n", &self.decorators.join("\n"), "\ndef ", name, "(*_): ...\n"].concat();
        }
        if !self.imports.is_empty() {
            out.push('\n');
        }
        out.extend(self.imports.iter().flat_map(|import| [&import.text, "\n"]));
        out.extend(grown(false));
        out.extend(self.helpers.iter().flat_map(|helper| ["\n", helper]));
        out
    }
}
