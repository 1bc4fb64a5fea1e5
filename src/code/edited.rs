//! A candidate read back from the text that somebody has edited around it.

use super::{CodeError, Place, Target};

impl Target {
    /// The candidate in `text`, the whole text with a candidate in place after somebody has edited it, and true
    /// if nothing but the candidate was changed. Where more was changed the function is found again, by its
    /// name, and its body is the candidate.
    pub fn candidate_in(&self, text: &str) -> Result<(String, bool), CodeError> {
        let (text, _) = super::text::decode_str(text);
        let before = [&self.text[..self.replaced().start], self.lead(), self.kept()].concat();
        let after = self.after();
        let inside = text.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix(after.as_str()));
        if let Some(inside) = inside {
            return Ok((ended(inside), true));
        }
        // An editor may have ended the last line.
        let inside = text.strip_prefix(before.as_str()).and_then(|rest| rest.strip_suffix(&format!("{after}\n")));
        if let Some(inside) = inside {
            return Ok((ended(inside), true));
        }
        let found = Self::in_text(&text, self.language, &Place::Function(self.name.clone()))?;
        let candidate = ended(&found.text[found.body.clone()]);
        let whole = self.with_added(&found, candidate);
        let is_all = self.splice(&whole) == text;
        Ok((whole, is_all))
    }
}

/// A text that ends with a line end.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    #[test]
    fn a_candidate_comes_back_as_it_was_edited() {
        let file = "import os\n\ndef f(x):\n    \"\"\"Doc.\"\"\"\n    pass\n\ndef g():\n    return 1\n";
        let target = Target::in_text(file, Language::Python, &Place::Function("f".into())).unwrap();
        let edited = target.splice("    return x\n").replace("return x", "return x + 1");
        assert_eq!(target.candidate_in(&edited).unwrap(), ("    return x + 1\n".to_owned(), true));
        let more = edited.replace("import os", "import os, sys");
        assert_eq!(target.candidate_in(&more).unwrap(), ("    return x + 1\n".to_owned(), false));
        assert!(target.candidate_in("def other():\n    pass\n").is_err());
    }

    #[test]
    fn bodies_in_braces_come_back_too() {
        let file = "fn f(x: u8) -> u8 {\n    todo!()\n}\nfn g() {}\n";
        let target = Target::in_text(file, Language::Rust, &Place::Function("f".into())).unwrap();
        let edited = target.splice("    x\n").replace("    x\n", "    let y = x;\n    y\n");
        let (candidate, alone) = target.candidate_in(&edited).unwrap();
        assert_eq!((target.splice(&candidate), alone), (edited, true));
    }
}
