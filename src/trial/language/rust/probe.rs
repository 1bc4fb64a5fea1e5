//! Instrumentation of the function under test on the unchanged project: records which tests call it. Pure.

use std::ops::Range;

use super::edit::Edit;
use super::guards::closing;
use super::tests_in_text::body;
use crate::code::blanked;
use crate::language::Language;

/// The variable with the path of the file that a call of the function creates.
pub const VARIABLE: &str = "TRIAL_CALLED";

/// The inserted first statement of a function. The crate may be one without the standard library.
const NOTE: &str = " { extern crate std as own_std; static ONCE: own_std::sync::Once = own_std::sync::Once::new(); \
    ONCE.call_once(|| { if let own_std::option::Option::Some(path) = own_std::env::var_os(\"@VARIABLE@\") { \
    let _ = own_std::fs::File::create(path); } }); } ";

/// The stub body and its panic message.
const STUB: &str = " { extern crate std as own_std; own_std::panic!(\"@SAYS@\") } ";
/// A stub body whose type is an iterator.
const STUB_OF_ITERATOR: &str =
    " { extern crate std as own_std; if true { own_std::panic!(\"@SAYS@\") } own_std::iter::empty() } ";
pub const SAYS: &str = "the function has no body here";

/// Instruments every function of that name outside of `except`. With `empty` a stub replaces the body. `None`
/// if that cannot be done for all of them: in a `const fn`, if there is none, or with `empty`, if the body
/// determines the type of `impl Trait`.
pub fn noted(text: &str, name: &str, except: &[Range<usize>], empty: bool) -> Option<Vec<Edit>> {
    let code = blanked(Language::Rust, text);
    let mut edits = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        let is_word = !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let head = code[at + 3..].trim_start();
        // A function made by a macro may have any name.
        if is_word && head.starts_with('$') {
            return None;
        }
        let own = head.strip_prefix("r#").unwrap_or(head);
        let end = own.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(own.len());
        if !is_word || &own[..end] != name || except.iter().any(|part| part.contains(&at)) {
            continue;
        }
        let Some(open) = body(&code, at) else { continue };
        if is_const(&code[..at]) {
            return None;
        }
        let note = NOTE.replace("@VARIABLE@", VARIABLE);
        edits.push(if empty {
            let end = closing(&code, open);
            let text = note + &stub(&code[at..open])?.replace("@SAYS@", SAYS);
            Edit { at: open + 1..end.checked_sub(1)?.max(open + 1), text }
        } else {
            Edit::insert(open + 1, note)
        });
    }
    (!edits.is_empty()).then_some(edits)
}

/// The stub body for a function with this head.
fn stub(head: &str) -> Option<&'static str> {
    // Only the return type stands outside of brackets and can be opaque.
    let mut depth = 0;
    let mut outside = |c: &char| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth == 0
    };
    let outside: String = head.chars().filter(|c| outside(c)).collect();
    let mut words = outside.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    if words.all(|word| word != "impl") {
        return Some(STUB);
    }
    let (_, returned) = outside.split_once("-> impl ")?;
    (returned.contains("Iterator") && !returned.contains("->")).then_some(STUB_OF_ITERATOR)
}

/// Returns true if `const` is among the words before `fn`.
fn is_const(before: &str) -> bool {
    let words = before.split_whitespace().rev();
    words.take_while(|word| matches!(*word, "const" | "async" | "unsafe" | "extern")).any(|word| word == "const")
}

#[cfg(test)]
mod tests {
    use super::super::edit::apply;
    use super::*;

    fn places(text: &str, except: &[Range<usize>]) -> Option<Vec<usize>> {
        noted(text, "f", except, false).map(|edits| edits.iter().map(|edit| edit.at.start).collect())
    }

    #[test]
    fn every_function_of_the_name_is_noted() {
        let text = "trait T { fn f(&self); }\nimpl T for u8 { fn f(&self) {} }\npub fn f<T>(x: [T; 2]) -> T { x }\nfn ff() {} // fn f() {}\n";
        let found = places(text, &[]).unwrap();
        assert_eq!(found.iter().map(|at| &text[at - 1..*at]).collect::<String>(), "{{");
        assert_eq!(found.len(), 2);
        #[allow(clippy::single_range_in_vec_init, reason = "one part is meant")]
        let tests = [0..60];
        assert_eq!(places(text, &tests).unwrap().len(), 1);
        assert_eq!(places("fn g() {}", &[]), None);
    }

    #[test]
    fn what_cannot_be_noted_says_so() {
        assert_eq!(places("const fn f() {}", &[]), None);
        assert_eq!(places("pub const unsafe fn f() {}", &[]), None);
        assert_eq!(places("macro_rules! m { ($n:ident) => { fn $n() {} } } fn f() {}", &[]), None);
    }

    #[test]
    fn a_body_can_be_emptied() {
        let text = "fn f() -> i64 {\n    nonsense {} \"}\"\n}\nfn g() {}\n";
        let out = apply(text, &noted(text, "f", &[], true).unwrap());
        assert!(
            out.ends_with("own_std::panic!(\"the function has no body here\") } }\nfn g() {}\n")
                && !out.contains("nonsense"),
            "{out}"
        );
    }

    #[test]
    fn a_body_that_tells_the_type_is_replaced_by_one_that_does_too() {
        let emptied = |text: &str| Some(apply(text, &noted(text, "f", &[], true)?));
        let out = emptied("fn f(x: &str) -> impl Iterator<Item = char> + '_ {\n    x.chars()\n}\n").unwrap();
        assert!(out.contains("own_std::iter::empty()") && !out.contains("chars"), "{out}");
        assert_eq!(emptied("fn f() -> impl Fn(u8) -> u8 { |x| x }"), None);
        assert_eq!(emptied("fn f() -> Option<impl Iterator<Item = u8>> { None }"), None);
        let out = emptied("fn f(x: impl Fn(u8) -> u8) -> u8 { x(1) }").unwrap();
        assert!(out.contains("own_std::panic!") && !out.contains("empty()"), "{out}");
    }
}
