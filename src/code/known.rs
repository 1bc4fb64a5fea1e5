//! Names that code uses without defining them, and what a language has of them without a definition.

use std::collections::HashSet;

use super::locals;
use super::rules;
use super::words::{Word, words};
use crate::language::Language;

/// Names that a language has without a definition in the file.
pub(super) struct Known {
    /// Functions and types that need no import, and keywords in front of a bracket.
    pub builtins: &'static [&'static str],
    /// Paths of its library that need an import. The last part of a path is its name in code. Names that
    /// often stand for something else are left out.
    pub library: &'static [&'static str],
    /// Names of the library that are there without an import, but with these members alone.
    pub given: &'static [(&'static str, &'static [&'static str])],
    /// Names of its library that are those of a module and of what is in it, with the members of the module.
    /// Without members only a call means what is in it.
    pub twins: &'static [(&'static str, &'static [&'static str])],
    /// Separates the parts of a path.
    pub separator: &'static str,
    /// The import of a path.
    pub import: fn(&str) -> String,
}

impl Known {
    /// The imports of its library that `code` needs and neither has nor finds among the names `is_defined`.
    pub fn imports(&self, language: Language, code: &str, is_defined: impl Fn(&str) -> bool) -> Vec<String> {
        let free = free_names(language, code);
        let is_twin = |free: &FreeName| {
            let members = self.twins.iter().find(|(twin, _)| *twin == free.name).map(|(_, members)| *members);
            members.is_some_and(|members| {
                let is_of_module = |member: &String| members.is_empty() || members.contains(&member.as_str());
                free.is_called && !free.is_module || !free.members.iter().all(is_of_module)
            })
        };
        let twins = free.iter().filter(|free| is_twin(free) && !is_defined(&free.name));
        let twins: Vec<&str> = twins.map(|free| free.name.as_str()).collect();
        let needed = self.library.iter().filter(|path| {
            let (place, name) = path.rsplit_once(self.separator).unwrap_or(("", path));
            let is_module = language == Language::Go || place.is_empty();
            let given = self.given.iter().find(|(given, _)| *given == name).map_or(&[][..], |(_, members)| *members);
            let is_given = |free: &FreeName| free.members.iter().all(|member| given.contains(&member.as_str()));
            let is_used = |free: &FreeName| {
                free.name == name && if is_module { free.is_module && !is_given(free) } else { free.is_alone }
            };
            free.iter().any(is_used) && !is_defined(name) && !twins.contains(path)
        });
        let of_twins = twins.iter().map(|name| (self.import)(&[name, self.separator, name].concat()));
        needed.map(|path| (self.import)(path)).chain(of_twins).collect()
    }
}

/// A name that code uses and does not bind.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FreeName {
    pub name: String,
    /// It is called.
    pub is_called: bool,
    /// Every use of it takes a member out of it.
    pub is_module: bool,
    /// These members.
    pub members: Vec<String>,
    /// It is used without a path in front.
    pub is_alone: bool,
}

/// Words behind which a name is defined.
const DEFINE: &[&str] = &[
    "as", "class", "def", "enum", "fn", "func", "function", "import", "interface", "mod", "package", "struct", "trait",
    "type", "use",
];

/// The names that `code` uses and does not bind, in the order in which they appear.
pub(super) fn free_names(language: Language, code: &str) -> Vec<FreeName> {
    let words = words(language, code);
    let mut bound: HashSet<&str> = locals::bound(language, &words);
    for line in words.split(|word| *word == Word::End) {
        // All names of an import may be the ones that it binds.
        if language == Language::Python && matches!(line.first().and_then(Word::name), Some("from" | "import")) {
            bound.extend(line.iter().filter_map(Word::name));
        }
        let pairs = line.iter().zip(line.iter().skip(1));
        let defined = pairs.filter(|(one, _)| one.name().is_some_and(|name| DEFINE.contains(&name)));
        bound.extend(defined.filter_map(|(_, next)| next.name()));
    }
    let mut found: Vec<FreeName> = Vec::new();
    let is = |at: Option<usize>, mark: char| at.and_then(|at| words.get(at)).is_some_and(|word| word.is(mark));
    for (at, word) in words.iter().enumerate() {
        let Some(name) = word.name().filter(|name| !name.starts_with(|c: char| c.is_ascii_digit())) else { continue };
        let (before, after) = (at.checked_sub(1), Some(at + 1));
        let is_member = is(before, '.') && !is(at.checked_sub(2), '.');
        let is_keyword = is(after, '=') && !is(Some(at + 2), '=') && (is(before, '(') || is(before, ','));
        let is_key = is(after, ':') && !is(Some(at + 2), ':') && (is(before, '{') || is(before, ','));
        let is_bound = bound.contains(name) && !(language == Language::Go && is_of_its_own_value(&words, at));
        if is_member || is_keyword || is_key || is_bound {
            continue;
        }
        let is_pathed = is(before, ':') && is(at.checked_sub(2), ':');
        let takes = is(after, '.');
        let member = words.get(at + 2).and_then(Word::name).filter(|_| takes).map(str::to_owned);
        match found.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                known.is_called |= is(after, '(') && !is_pathed;
                known.is_module &= takes;
                known.is_alone |= !is_pathed;
                known.members.extend(member);
            }
            None => found.push(FreeName {
                name: name.to_owned(),
                is_called: is(after, '(') && !is_pathed,
                is_module: takes,
                members: member.into_iter().collect(),
                is_alone: !is_pathed,
            }),
        }
    }
    found
}

/// Go binds a name behind the statement: in `sha256 := sha256.New()` the second one, at `at`, is the package.
pub(super) fn is_of_its_own_value(words: &[Word], at: usize) -> bool {
    if !words.get(at + 1).is_some_and(|next| next.is('.')) {
        return false;
    }
    // Its first use is the one that binds it, in the same statement.
    let Some(first) = words[..at].iter().position(|word| word == &words[at]) else { return false };
    let between = &words[first + 1..at];
    let is_value = between.windows(2).any(|two| two[0].is(':') && two[1].is('='));
    is_value && !between.contains(&words[at]) && !between.contains(&Word::End)
}

/// Returns true if the words of a script may bind a name: a default or an assignment (`name = …`), or a method
/// (`name(…) {`).
fn may_bind(words: &[Word], name: &str) -> bool {
    let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
    (0..words.len()).filter(|&at| words[at].name() == Some(name)).any(|at| {
        let mut open = 0_usize;
        let closes = |next: &usize| {
            open = open + usize::from(is(*next, '(')) - usize::from(is(*next, ')'));
            open == 0
        };
        let is_method = || is((at + 1..words.len()).find(closes).unwrap_or(words.len()) + 1, '{');
        is(at + 1, '=') && !is(at + 2, '=') || is(at + 1, '(') && is_method()
    })
}

/// The functions that `code` calls, and the constants in capitals that it uses, which nothing defines:
/// neither the language, nor its library, nor a name that `is_defined`.
pub(super) fn undefined(language: Language, code: &str, is_defined: impl Fn(&str) -> bool) -> Vec<String> {
    let known = &rules::of(language).known;
    let is_there = |name: &str| {
        let own = |path: &&str| path.rsplit(known.separator).next() == Some(name);
        known.builtins.contains(&name) || known.library.iter().any(own) || is_defined(name)
    };
    let words = words(language, code);
    let is_script = language.is_kin(Language::JavaScript);
    let free = free_names(language, code).into_iter().filter(|free| !is_script || !may_bind(&words, &free.name));
    let is_constant =
        |name: &str| name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let is_use = |free: &FreeName| free.is_called || free.is_alone && is_constant(&free.name);
    free.filter(|free| is_use(free) && !is_there(&free.name)).map(|free| free.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_script_binds_are_defined() {
        let undefined = |code: &str| undefined(Language::JavaScript, code, |_| false);
        for code in [
            "for (const [k, g = x => x] of pairs) return g(k)",
            "const { x: { y: h = () => 1 } = {}, ...r } = {}; return h()",
            "class Q { static s(a, b) { return 1 } }\nreturn Q.s()",
            "const o = { run(f = g(1)) { return 2 } }; return o.run()",
            "return ((cb = () => 5) => cb())()",
        ] {
            assert_eq!(undefined(code).iter().filter(|name| *name != "g").count(), 0, "{code}");
        }
        assert_eq!(undefined("return missing(1) == other(2)"), ["missing", "other"]);
    }

    #[test]
    fn a_name_of_a_module_and_of_what_is_in_it_is_imported_by_its_use() {
        let imports = |code: &str| rules::of(Language::Python).known.imports(Language::Python, code, |_| false);
        for (code, import) in [
            ("datetime.strptime(t, '%Y')", "from datetime import datetime"),
            ("datetime.now().year", "from datetime import datetime"),
            ("datetime(2024, 1, 1)", "from datetime import datetime"),
            ("isinstance(t, datetime.datetime)", "import datetime"),
            ("datetime.datetime.now() + datetime.timedelta(1)", "import datetime"),
            ("time.sleep(1)", "import time"),
            ("time()", "from time import time"),
            ("copy.deepcopy(t)", "import copy"),
            ("copy(t)", "from copy import copy"),
        ] {
            assert_eq!(imports(&format!("    return {code}\n")), [import], "{code}");
        }
        let both = imports("    return datetime.now() - timedelta(days=1)\n");
        assert_eq!(both, ["from datetime import timedelta", "from datetime import datetime"]);
        assert_eq!(imports("    datetime = 1\n    return datetime.now()\n"), [""; 0], "a local");
    }
}
