//! The types that the head of a function says it returns, by the grammar of its language.

use tree_sitter::Node;

use super::{Target, syntax, text};

impl Target {
    /// The types as written, one for each value, of a language whose heads name them; empty for a function
    /// that returns nothing. `None` if the head alone is no function to the grammar, as that of a closure is
    /// not.
    pub fn returned(&self) -> Option<Vec<String>> {
        let head = self.text.get(text::line_start(&self.text, self.function.start)..self.body.start)?;
        let written = format!("{head}\n}}\n");
        let tree = syntax::tree(self.language, &written)?;
        let root = tree.root_node();
        let function = root.children(&mut root.walk()).find(|node| node.child_by_field_name("body").is_some())?;
        let Some(result) = RESULTS.iter().find_map(|field| function.child_by_field_name(field)) else {
            return Some(Vec::new());
        };
        let said = |node: Node| written.get(node.byte_range()).unwrap_or_default().to_owned();
        if result.kind() != "parameter_list" {
            return Some(vec![said(result)]);
        }
        // Several values, of which each may have a name, and several names one type.
        let mut cursor = result.walk();
        let types = result.named_children(&mut cursor).filter_map(|value| {
            let names = value.children_by_field_name("name", &mut value.walk()).count().max(1);
            Some(vec![said(value.child_by_field_name("type")?); names])
        });
        Some(types.flatten().collect())
    }
}

/// The fields of the grammars that hold them.
const RESULTS: [&str; 2] = ["result", "return_type"];

#[cfg(test)]
mod tests {
    use crate::code::{Place, Target};
    use crate::language::Language;

    #[test]
    fn types_are_those_of_the_head() {
        let returned = |language, text: &str| {
            Target::in_text(text, language, &Place::Any).unwrap().returned().map(|types| types.join("; "))
        };
        for (head, expected) in [
            ("func f(x int)", ""),
            ("// f says so.\nfunc f(g func(int) error) bool", "bool"),
            ("func (s *Stack[T]) f() (T, error)", "T; error"),
            ("func f[K comparable, V any](m map[K]V) (a, b []K, err error)", "[]K; []K; error"),
            ("func f() func(int) (int, error)", "func(int) (int, error)"),
        ] {
            let text = format!("package a\n\n{head} {{\n}}\n");
            assert_eq!(returned(Language::Go, &text).as_deref(), Some(expected), "{head}");
        }
        for (head, expected) in [
            ("pub fn f(x: &str)", ""),
            (
                "/// Says so.\n#[must_use]\nfn f<T>(x: T) -> Result<Vec<T>, String>\nwhere\n    T: Copy,\n",
                "Result<Vec<T>, String>",
            ),
            ("async fn f() -> io::Result<()>", "io::Result<()>"),
        ] {
            assert_eq!(returned(Language::Rust, &format!("{head} {{\n}}\n")).as_deref(), Some(expected), "{head}");
        }
        let method = "struct S;\n\nimpl S {\n    fn f(&self) -> Option<&str> {\n        todo!()\n    }\n}\n";
        assert_eq!(returned(Language::Rust, method).as_deref(), Some("Option<&str>"));
    }
}
