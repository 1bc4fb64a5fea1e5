//! Names that a body uses and nothing gives.

use std::collections::HashSet;

use super::around::Around;
use super::beside::Beside;
use super::imports::Import;
use super::owned;
use crate::code::outline::{Item, ItemKind, mentioned, outline};
use crate::code::uses::{self, Uses, uses};
use crate::code::words::words;
use crate::code::{known, rules};
use crate::language::Language;

impl Around<'_> {
    /// Returns true if the body names nothing that may still come: everything is in the language, its
    /// library, the file, or an import.
    pub fn is_all_known(&self, (head, body): (&str, &str), beside: &Beside) -> bool {
        // A type may get methods further down, a table its lines, and the function attributes.
        let words = words(self.language, body);
        if words.windows(2).any(|two| two[0].name() == Some(self.name) && two[1].is('.')) {
            return false;
        }
        let helpers = outline(self.language, &beside.helpers.concat());
        if !beside.members.is_empty() || helpers.iter().any(|item| item.kind != ItemKind::Function) {
            return false;
        }
        let mut used = self.uses_under(head, body);
        for helper in &beside.helpers {
            used.extend(uses(self.language, helper, &HashSet::new(), &[]));
        }
        let is_known = |name: &String| name == self.name || self.mentions(name);
        self.unknown(&used, body, beside).is_empty() && used.own.iter().all(is_known)
    }

    /// The names that the body alone uses and that nothing gives, and members of the object itself. They may be
    /// in another block.
    pub fn lacking(&self, (head, body): (&str, &str), beside: &Beside) -> Vec<String> {
        let used = self.uses_under(head, body);
        let mut of = self.this(&[self.head, "\n", head].concat());
        of.extend(self.items().iter().filter(|item| item.kind != ItemKind::Import).flat_map(|item| item.names.clone()));
        // A class may have members of the one that it extends.
        if self.scope().is_some_and(|scope| self.extends(scope)) {
            of.clear();
        }
        let own = self.members_of(&of, body, beside).into_iter();
        own.chain(self.unknown(&used, body, beside)).collect()
    }

    /// The class, or what else has members, around the function.
    fn scope(&self) -> Option<&Item> {
        self.items().iter().find(|item| item.kind == ItemKind::Scope && item.range.contains(&self.at))
    }

    fn extends(&self, scope: &Item) -> bool {
        let head = scope.signature.lines().last().unwrap_or_default();
        head.contains(if self.language == Language::Python { "(" } else { " extends " })
    }

    /// The members of these that the body names and nothing gives.
    fn members_of(&self, of: &[String], body: &str, beside: &Beside) -> Vec<String> {
        let given = beside.members.iter().chain(&beside.helpers).chain(beside.grown.iter().map(|grown| &grown.text));
        let given: HashSet<&str> = given.flat_map(|text| mentioned(text)).collect();
        let words = words(self.language, body);
        let member = |at: usize| {
            let dot = at.checked_sub(1).filter(|&dot| words[dot].is('.') || words[dot].is(':'))?;
            let owner = if words[dot].is(':') { dot.checked_sub(2)? } else { dot.checked_sub(1)? };
            let owner = words[owner].name()?;
            let name = words[at].name()?;
            (of.iter().any(|own| own == owner) && !self.mentions(name) && !given.contains(name))
                .then(|| name.to_owned())
        };
        (0..words.len()).filter_map(member).collect()
    }

    /// The used names that nothing gives: neither the language, nor its library, nor the file, nor what comes
    /// with the body. None where an import may give any name.
    fn unknown(&self, used: &Uses, body: &str, beside: &Beside) -> Vec<String> {
        if self.imports_unnamed() || beside.imports.iter().any(gives_any_name) {
            return Vec::new();
        }
        let known = &rules::of(self.language).known;
        let words = words(self.language, &[body, &beside.helpers.concat()].concat());
        let calls =
            |at: usize| words.get(at + 1).is_some_and(|next| next.is('(')) && !(at > 0 && words[at - 1].is('.'));
        let is_called = |name: &str| (0..words.len()).any(|at| words[at].name() == Some(name) && calls(at));
        let is_of_language = |name: &str| {
            // A module cannot be called.
            let is_own = |path: &&str| {
                let is_module = self.language == Language::Go || !path.contains(known.separator);
                path.rsplit(known.separator).next() == Some(name) && !(is_module && is_called(name))
            };
            known.builtins.contains(&name) || uses::is_word(self.language, name) || known.library.iter().any(is_own)
        };
        let is_imported = |name: &str| beside.imports.iter().any(|import| import.names.iter().any(|n| n == name));
        let helpers = outline(self.language, &beside.helpers.concat());
        let is_helper = |name: &str| helpers.iter().any(|item| item.names.iter().any(|own| own == name));
        let members: HashSet<&str> = beside.members.iter().flat_map(|member| mentioned(member)).collect();
        let is_known = |name: &str| {
            is_of_language(name)
                || is_imported(name)
                || is_helper(name)
                || self.mentions(name)
                || members.contains(name)
        };
        used.alone.iter().filter(|name| *name != self.name && !is_known(name)).cloned().collect()
    }

    /// The functions that the body calls, the constants in capitals that it uses, and the members of its object
    /// that it reads, which neither its file nor `beside` defines. None where the file imports names that it
    /// does not spell out.
    pub fn undefined(&self, body: &str, beside: &Beside) -> Vec<String> {
        if self.imports_unnamed() || beside.imports.iter().any(gives_any_name) {
            return Vec::new();
        }
        let mut code = body.to_owned();
        let more = beside.helpers.iter().chain(&beside.members);
        more.for_each(|text| code += text);
        let of_helpers = outline(self.language, &beside.helpers.concat()).into_iter().flat_map(|i| i.names);
        let fields = beside.members.iter().flat_map(|member| owned::fields(self.language, member));
        let of_helpers: HashSet<String> = of_helpers.chain(fields.map(|(name, _)| name)).collect();
        let imported = |name: &str| beside.imports.iter().any(|import| import.names.iter().any(|given| given == name));
        let is_defined =
            |name: &str| name == self.name || of_helpers.contains(name) || imported(name) || self.mentions(name);
        let mut all = known::undefined(self.language, &code, is_defined);
        all.extend(self.own_members(body, beside));
        all
    }

    /// Members that the body reads of its own object, which neither its class nor itself makes. None where the
    /// class may have others: of another class, of another file, or of any name.
    fn own_members(&self, body: &str, beside: &Beside) -> Vec<String> {
        let has_all = self.language == Language::Python || self.language.is_kin(Language::JavaScript);
        let makes = |text: &str| MAKERS.iter().any(|word| text.contains(word));
        // The inner one of two may extend another.
        let is_alone = |scope: &Item| {
            self.known.get(scope.range.start..self.at).is_some_and(|text| text.matches("class ").count() == 1)
        };
        let is_closed = self.scope().is_some_and(|scope| is_alone(scope) && !self.extends(scope));
        if !has_all || !is_closed || makes(self.known) || makes(body) {
            return Vec::new();
        }
        let words = words(self.language, body);
        let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
        // It may be set with a type, or as one of several.
        let is_set = |name: &str| {
            let sets = |at: usize| (is(at, '=') && !is(at + 1, '=')) || is(at, ':') || is(at, ',');
            (1..words.len()).any(|at| is(at - 1, '.') && words[at].name() == Some(name) && sets(at + 1))
        };
        let mut seen = HashSet::new();
        let mut lacks = |name: &String| {
            let is_of_all = name.starts_with("__") || OF_OBJECTS.contains(&name.as_str());
            !is_of_all && !is_set(name) && seen.insert(name.clone())
        };
        let own = ["self", "this"].map(str::to_owned);
        self.members_of(&own, body, beside).into_iter().filter(|name| lacks(name)).collect()
    }
}

/// Members that each object of JavaScript has.
const OF_OBJECTS: [&str; 4] = ["constructor", "hasOwnProperty", "toString", "valueOf"];

/// Words by which code makes members of any name.
const MAKERS: [&str; 5] = ["__dict__", "assign", "defineProperty", "getattr", "setattr"];

/// Returns true if an import may give any name.
fn gives_any_name(import: &Import) -> bool {
    ["import *", "::*;", "*};"].iter().any(|end| import.text.ends_with(end))
}
