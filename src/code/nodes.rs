//! Statements and expressions of a candidate, read from a syntax tree of the file with the candidate in it.

use std::ops::Range;

use tree_sitter::Tree;

use super::{Target, rules, syntax};

/// Kind of a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A statement or declaration.
    Statement,
    /// An expression.
    Expression,
    /// A line of a text that does not parse.
    Line,
}

/// A piece of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeNode {
    /// Its kind.
    pub kind: NodeKind,
    /// Bytes of the candidate.
    pub range: Range<usize>,
}

/// Expressions whose names in the grammars do not say so.
const EXPRESSIONS: &[&str] = &[
    "array", "arrow_function", "attribute", "await", "call", "composite_literal", "concatenated_string", "dictionary",
    "func_literal", "lambda", "list", "macro_invocation", "object", "set", "string", "subscript", "template_string",
    "tuple",
];

/// The kind of a node of a grammar; `None` for names, blocks, and parts that are not code of their own.
fn kind(name: &str) -> Option<NodeKind> {
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    if ends(&["_statement", "_declaration", "_definition"]) {
        return Some(NodeKind::Statement);
    }
    let is_expression = ends(&["_expression", "_operator", "comprehension"]) || EXPRESSIONS.contains(&name);
    is_expression.then_some(NodeKind::Expression)
}

impl Target {
    /// Statements and expressions of the model's text, outer ones first; `None` if the text with it does not
    /// parse.
    pub fn nodes(&self, candidate: &str) -> Option<Vec<CodeNode>> {
        let rules = rules::of(self.language);
        let kept = (rules.inside)(self.column(candidate), &format!("{}{candidate}", self.typed))
            .saturating_sub(self.typed.len());
        let kept = candidate.get(..kept).unwrap_or(candidate);
        let tried = |before: &str, after: &str| {
            let before = [before, &self.lead, &self.typed].concat();
            let tree = syntax::tree(self.language, &[&before, kept, "\n", after].concat())?;
            Some(inside(&tree, before.len()..before.len() + kept.len()))
        };
        tried(&self.text[..self.body.start], &self.after()).or_else(|| {
            // The rest of the file may be broken: the function in the heads around it.
            let start = super::text::line_start(&self.text, self.function.start);
            let heads = self.around.iter().filter_map(|head| self.text.get(head.clone()));
            let mut before: String = heads.flat_map(|head| [head.trim_end(), "\n"]).collect();
            before += &self.text[start..self.body.start];
            let rest = self.text.get(self.body.end..self.function.end).unwrap_or_default();
            let ends = if rules.lexicon.is_some() { "}\n".repeat(self.around.len()) } else { String::new() };
            tried(&before, &format!("{}{rest}\n{ends}", self.tail))
        })
    }
}

/// The lines of a text that have something on them, without the white space around it.
pub fn lines(text: &str) -> Vec<CodeNode> {
    let begin = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| CodeNode { kind: NodeKind::Line, range: begin(line)..begin(line) + line.len() }).collect()
}

/// The nodes that lie within `bytes` of the text, as ranges from there on.
fn inside(tree: &Tree, bytes: Range<usize>) -> Vec<CodeNode> {
    let mut found: Vec<CodeNode> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let range = node.byte_range();
        let is_within = bytes.start <= range.start && range.end <= bytes.end;
        if let Some(kind) = kind(node.kind()).filter(|_| is_within && node.is_named()) {
            let range = range.start - bytes.start..range.end - bytes.start;
            // An expression that is a whole statement is told once.
            if found.last().is_none_or(|last| last.range != range) {
                found.push(CodeNode { kind, range });
            }
        }
        let is_outside = range.end <= bytes.start || range.start >= bytes.end;
        if !is_outside && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Place;
    use crate::language::Language;

    /// The kinds and texts of a candidate's nodes.
    fn told(language: Language, file: &str, candidate: &str) -> Vec<(NodeKind, String)> {
        let target = Target::in_text(file, language, &Place::Function("f".into())).unwrap();
        let nodes = target.nodes(candidate).expect(candidate);
        for node in &nodes {
            assert!(candidate.get(node.range.clone()).is_some(), "{node:?}");
        }
        nodes.into_iter().map(|node| (node.kind, candidate[node.range].to_owned())).collect()
    }

    #[test]
    fn statements_and_expressions_of_every_language() {
        let cases = [
            (
                Language::Python,
                "import os\n\ndef f(n):\n    \"\"\"Doc.\"\"\"\n    pass\n\nx = f(1)\n",
                "    if n > 1:\n        return f(n)\n    return n\n",
                "if n > 1:\n        return f(n)",
            ),
            (
                Language::JavaScript,
                "const a = 1;\nfunction f(n) {\n}\nfoo(a);\n",
                "  if (n > 1) {\n    return f(n);\n  }\n  return n;\n",
                "if (n > 1) {\n    return f(n);\n  }",
            ),
            (
                Language::TypeScript,
                "const a: number = 1;\nfunction f(n: number): number {\n}\n",
                "  if (n > 1) {\n    return f(n);\n  }\n  return n;\n}\n",
                "if (n > 1) {\n    return f(n);\n  }",
            ),
            (
                Language::Rust,
                "mod m {}\nfn f(n: u8) -> u8 {\n    todo!()\n}\nfn g() {}\n",
                "    if n > 1 {\n        return f(n);\n    }\n    n\n",
                "if n > 1 {\n        return f(n);\n    }",
            ),
            (
                Language::Go,
                "package a\n\nfunc f(n int) int {\n}\n",
                "\tif n > 1 {\n\t\treturn f(n)\n\t}\n\treturn n\n}\n",
                "if n > 1 {\n\t\treturn f(n)\n\t}",
            ),
        ];
        for (language, file, candidate, outer) in cases {
            let told = told(language, file, candidate);
            let has = |kind, text: &str| told.iter().any(|node| node.0 == kind && node.1.trim_end_matches(';') == text);
            assert!(has(NodeKind::Statement, outer), "{language:?}: {told:?}");
            assert!(has(NodeKind::Expression, "n > 1"), "{language:?}: {told:?}");
            assert!(has(NodeKind::Expression, "f(n)"), "{language:?}: {told:?}");
            let is_return = |text: &str| text.trim_end_matches(';') == "return f(n)";
            assert!(told.iter().any(|node| is_return(&node.1)), "{language:?}: {told:?}");
            assert!(!told.iter().any(|node| node.1.contains("foo") || node.1.contains("Doc")), "{language:?}");
        }
    }

    #[test]
    fn a_file_that_is_broken_elsewhere_does_not_matter() {
        let file = "class A:\n    def f(self, n):\n        pass\n\ndef broken(:\n";
        let target = Target::in_text(file, Language::Python, &Place::Function("A.f".into())).unwrap();
        assert!(target.nodes("        return n + 1\n").is_some_and(|nodes| nodes.len() == 2));
        let file = "impl A {\n    fn f(n: u8) -> u8 {\n    }\n}\nfn broken( {\n";
        let target = Target::in_text(file, Language::Rust, &Place::Function("A.f".into()));
        assert!(target.is_ok_and(|target| target.nodes("        n + 1\n").is_some_and(|nodes| nodes.len() == 1)));
    }

    #[test]
    fn what_does_not_parse_has_lines() {
        let target = Target::in_text("def f(n):\n    pass\n", Language::Python, &Place::Function("f".into())).unwrap();
        let broken = "    return (n\n\n    x y z\n";
        assert_eq!(target.nodes(broken), None);
        let texts: Vec<&str> = lines(broken).into_iter().map(|node| &broken[node.range]).collect();
        assert_eq!(texts, ["return (n", "x y z"]);
    }
}
