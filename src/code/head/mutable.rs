//! Bodies of Rust that change the object itself, in a method whose head does not say so.

use super::generics::with_tokens;
use super::parameter::{Parameter, parameters};
use crate::code::answer::RequestedFunction;
use crate::code::braces::lex::Kind;
use crate::code::target::last_name;
use crate::language::Language;

/// Names that the object may have in the body.
const NAMES: &[&str] = &["this", "owned", "own", "itself"];

impl RequestedFunction {
    /// A body written under `mut self` for a head with `self`: it changes a variable of another name, as
    /// `let mut self` is no Rust.
    pub(super) fn with_mutable_self(&self, answer_head: &str, body: String) -> String {
        let name = last_name(&self.name);
        let first = |head: &str| parameters(self.language, head, name).into_iter().next();
        let Some((own, new)) = first(&self.head).zip(first(answer_head)) else { return body };
        let is_self = |one: &Parameter| one.pattern == "self" && one.kind == own.kind;
        if !is_self(&own) || !is_self(&new) || own.is_mut || !new.is_mut {
            return body;
        }
        let words = crate::code::names(Language::Rust, &body);
        // Items in the body have a `self` of their own.
        if !words.contains("self") || words.contains("impl") || words.contains("fn") {
            return body;
        }
        let Some(this) = NAMES.iter().find(|name| !words.contains(**name)) else { return body };
        format!("{}let mut {this} = self;\n{}", self.inner, renamed(&body, this))
    }
}

/// A body with another name for `self`.
fn renamed(body: &str, this: &str) -> String {
    with_tokens(Language::Rust, body, |token| {
        let text = token.text(body);
        // `self::f` is a path of the module.
        let is_object = token.kind == Kind::Word && text == "self" && !body[token.end..].starts_with("::");
        match token.kind {
            Kind::Str => {
                Some(text.replace("{self}", &["{", this, "}"].concat()).replace("{self:", &["{", this, ":"].concat()))
            }
            _ => is_object.then(|| this.to_owned()),
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::code::head::tests::all_taken;
    use crate::language::Language::Rust;

    #[test]
    fn a_parameter_that_the_answer_changes_may_be_changed() {
        let method = |head: &str| format!("impl Q {{\n    fn f({head}) -> Self {{\n");
        let body = "        self.parts.push(format!(\"{self}\"));\n        self\n    }\n";
        let made = "        let mut this = self;\n        this.parts.push(format!(\"{this}\"));\n        this\n    }\n";
        all_taken(&[
            (
                Rust,
                "fn f(n: u64) -> u64 {\n",
                "fn f(mut n: u64) -> u64 {\n",
                "    n += 1;\n    n\n",
                "    let mut n = n;\n    n += 1;\n    n\n",
            ),
            (
                Rust,
                "fn f(n: u64) -> u64 {\n",
                "fn f(mut num: u64) -> u64 {\n",
                "    num += 1;\n    num\n",
                "    let mut num = n;\n    num += 1;\n    num\n",
            ),
            (Rust, "fn f(mut n: u64) -> u64 {\n", "fn f(mut n: u64) -> u64 {\n", "    n\n", "    n\n"),
            (
                Rust,
                "fn f((a, b): (u8, u8)) -> u8 {\n",
                "fn f((mut a, b): (u8, u8)) -> u8 {\n",
                "    a += b;\n    a\n",
                "    let mut a = a;\n    a += b;\n    a\n",
            ),
            (Rust, "fn f(xs: &mut Vec<u8>) {\n", "fn f(xs: &mut Vec<u8>) {\n", "    xs.sort();\n", "    xs.sort();\n"),
        ]);
        let target = crate::code::Target::in_text(
            &(method("self") + "    }\n}\n"),
            Rust,
            &crate::code::Place::Function("Q.f".to_owned()),
        )
        .unwrap();
        let answer = format!("```rust\n{}{body}}}\n```\n", method("mut self"));
        let program = target.splice(&target.requested().read(&answer, true).0);
        assert_eq!(program, format!("{}{made}}}\n", method("self")));
    }
}
