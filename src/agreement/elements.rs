//! Uses of the elements of a list: code takes them apart, reads their parts by number, calls them.

use super::kind::Kind;
use super::pairs::Pair;
use super::uses::{closed, places};
use crate::code::Word;
use crate::language::Language;

/// Functions whose result has the elements of what they are given.
const SAME: &[&str] = &["sorted", "reversed", "list", "tuple", "set", "iter"];
/// Methods of lists that give each element to a function, and those whose result has the same elements.
const EACH: &[&str] =
    &["map", "filter", "forEach", "some", "every", "find", "flatMap", "sort", "toSorted", "findIndex", "reduce"];
const KEEP: &[&str] = &["slice", "filter", "sort", "toSorted", "concat", "reverse", "toReversed"];
/// Most parts of an element.
const MOST: usize = 4;
/// Shortest name that tells the kind of a part.
const TELLING: usize = 3;

/// Uses of the elements of a list in a body.
#[derive(Debug, Default)]
pub struct Elements {
    /// Names that elements have.
    pub variables: Vec<String>,
    /// Names of their parts, where they are taken apart.
    pub names: Vec<String>,
    /// Largest number of a part that is read, and one more.
    read: usize,
    /// One of their parts, or of those of a result, is set.
    pub are_set: bool,
    /// They are called.
    pub are_called: bool,
    /// Names by which their parts are read.
    pub keys: Vec<String>,
    /// Attributes that are read of one that has no name.
    pub attributes: Vec<String>,
}

impl Elements {
    /// The uses in these words of the elements of the list of this name.
    pub fn of(language: Language, all: &[Word], name: &str) -> Self {
        let mut found = Self::default();
        let reader = Reader { all };
        let others: Vec<String> = places(all, name).filter_map(|at| reader.other_name(at)).map(str::to_owned).collect();
        let names = [name].into_iter().chain(others.iter().map(String::as_str).filter(|other| *other != name));
        for at in names.flat_map(|name| places(all, name)) {
            if language == Language::Python {
                reader.python(at, &mut found);
            } else {
                reader.braces(at, &mut found);
            }
            // `name[i][1]`
            if reader.is(at + 1, '[') {
                found.read = found.read.max(reader.part(closed(all, at + 1)).unwrap_or_default());
            }
        }
        for variable in found.variables.clone() {
            for at in places(all, &variable) {
                found.read = found.read.max(reader.part(at + 1).unwrap_or_default());
                found.are_called |= reader.is(at + 1, '(');
                let index = (reader.is(at + 1, '[') && reader.is(at + 3, ']')).then(|| reader.name(at + 2)).flatten();
                let got = (reader.name(at + 2) == Some("get")).then(|| reader.name(at + 4)).flatten();
                let key = index.or(got).filter(|key| key.parse::<usize>().is_err());
                found.keys.extend(key.map(str::to_owned));
                // `a, b = name`, `const [a, b] = name`
                if at > 1 && reader.is(at - 1, '=') && !reader.is(at + 1, '[') && !reader.is(at + 1, '.') {
                    found.take(reader.names_before(at - 1));
                }
            }
        }
        found.are_set = (0..all.len()).any(|at| {
            let is_end = reader.is(at + 3, '=') && !reader.is(at + 4, '=');
            reader.is(at, '[') && matches!(reader.name(at + 1), Some("0" | "1")) && reader.is(at + 2, ']') && is_end
        });
        found
    }

    /// Number of parts of an element, if some are read.
    pub fn size(&self) -> usize {
        if self.names.is_empty() { self.read } else { self.names.len() }
    }

    /// The kind of an element that has parts. `is_list` says that it is a list in Python.
    pub fn kind(&self, is_list: bool) -> Kind {
        let of_name = |name: &String| if name.len() < TELLING { Kind::Int } else { Kind::of_name(name) };
        let mut kinds: Vec<Kind> = self.names.iter().map(of_name).collect();
        kinds.resize(self.size(), Kind::Int);
        if kinds == [Kind::Int, Kind::Int] {
            return Kind::Pair(Pair { is_list, is_rising: false });
        }
        Kind::Tuple(kinds)
    }

    fn take(&mut self, names: Vec<&str>) {
        if (2..=MOST).contains(&names.len()) && self.names.is_empty() {
            self.names = names.into_iter().map(str::to_owned).collect();
        }
    }

    /// Notes the name of an element, or of its parts.
    fn call(&mut self, names: Vec<&str>) {
        match names[..] {
            [one] => self.variables.push(one.to_owned()),
            _ => self.take(names),
        }
    }
}

struct Reader<'a> {
    all: &'a [Word],
}

impl<'a> Reader<'a> {
    fn is(&self, at: usize, mark: char) -> bool {
        self.all.get(at).is_some_and(|word| word.is(mark))
    }

    fn name(&self, at: usize) -> Option<&'a str> {
        self.all.get(at).and_then(Word::name)
    }

    /// The number of the part that is read by the bracket at a place, and one more.
    fn part(&self, at: usize) -> Option<usize> {
        let number = self.name(at + 1)?.parse::<usize>().ok().filter(|number| *number < MOST)?;
        (self.is(at, '[') && self.is(at + 2, ']')).then_some(number + 1)
    }

    /// Names between commas and in brackets before a place: `(a, b)`.
    fn names_before(&self, end: usize) -> Vec<&'a str> {
        let mut names = Vec::new();
        for at in (0..end).rev() {
            match &self.all[at] {
                Word::Name(name) if names.is_empty() || self.is(at + 1, ',') => names.push(name.as_str()),
                Word::Mark(',' | '(' | ')' | '[' | ']') => {}
                _ => break,
            }
        }
        names.reverse();
        names
    }

    /// `for a, b in sorted(name)`, `key=lambda a: a[1]`.
    fn python(&self, at: usize, found: &mut Elements) {
        let before = self.begin(at);
        let is_part = self.is(at + 1, '[') && !self.is_slice(at + 1);
        if before > 1 && self.name(before - 1) == Some("in") && !self.is(at + 1, '.') && !is_part {
            found.call(self.names_before(before - 1));
        }
        // `sorted(name, key=lambda a: …)`, `name.sort(key=lambda a: …)`
        let end = if self.name(at + 2) == Some("sort") { at + 3 } else { at + 1 };
        let is_key = self.name(end + 1) == Some("key") && self.is(end + 2, '=');
        if is_key && self.name(end + 3) == Some("lambda") {
            found.variables.extend(self.name(end + 4).map(str::to_owned));
        }
        // `name[0](x)`, `name[0].attribute`, `one = name[0]`, `max(name, key=f).attribute`
        let close = closed(self.all, at + 1);
        found.are_called |= self.is(at + 1, '[') && self.is(close, '(');
        found.attributes.extend(self.attribute(close).filter(|_| is_part));
        let is_set = at > 1 && is_part && self.is(at - 1, '=') && !self.is(close, '[') && !self.is(close, '.');
        found.variables.extend(if is_set { self.name(at - 2).map(str::to_owned) } else { None });
        if at > 1 && self.is(at - 1, '(') && matches!(self.name(at - 2), Some("max" | "min")) {
            found.attributes.extend(self.attribute(closed(self.all, at - 1)));
        }
    }

    /// The attribute that is read behind a place. It is no method.
    fn attribute(&self, at: usize) -> Option<String> {
        let name = self.name(at + 1).filter(|_| self.is(at, '.') && !self.is(at + 2, '('))?;
        Some(name.to_owned())
    }

    /// The place where an expression begins that has the elements of the name at a place: `sorted(name)`,
    /// `[...name]`.
    fn begin(&self, at: usize) -> usize {
        let mut before = at;
        while before > 1 && self.is(before - 1, '(') && self.name(before - 2).is_some_and(|of| SAME.contains(&of)) {
            before -= 2;
        }
        while before > 0 && self.is(before - 1, '.') {
            before -= 1;
        }
        if before < at && before > 0 && self.is(before - 1, '[') { before - 1 } else { before }
    }

    /// The other name that a list has: `all = sorted(name)`, `const all = [...name].sort(…)`.
    fn other_name(&self, at: usize) -> Option<&'a str> {
        let begin = self.begin(at);
        let is_part = self.is(at + 1, '[') && !self.is_slice(at + 1);
        let end = if self.is(at + 1, ']') { at + 2 } else { at + 1 };
        let is_changed = self.is(end, '.') && !self.name(end + 1).is_some_and(|method| KEEP.contains(&method));
        let is_set = begin > 1 && self.is(begin - 1, '=') && !is_part && !is_changed;
        self.name(begin.checked_sub(2)?).filter(|_| is_set)
    }

    fn is_slice(&self, open: usize) -> bool {
        (open + 1..closed(self.all, open)).any(|at| self.is(at, ':'))
    }

    /// `for (const [a, b] of name)`, `name.map(([a, b]) => …)`, `[...name].sort((a, b) => a[0] - b[0])`.
    fn braces(&self, at: usize, found: &mut Elements) {
        if at > 1 && self.name(at - 1) == Some("of") && (self.is(at + 1, ')') || self.is(at + 1, '.')) {
            let names = self.names_before(at - 1);
            found.call(names.into_iter().filter(|name| !["const", "let", "var", "for"].contains(name)).collect());
        }
        let mut end = if self.is(at + 1, ']') { at + 2 } else { at + 1 };
        while self.is(end, '.')
            && let Some(method) = self.name(end + 1).filter(|_| self.is(end + 2, '('))
        {
            if EACH.contains(&method) {
                self.function(end + 3, method, found);
            }
            if !KEEP.contains(&method) {
                return;
            }
            end = closed(self.all, end + 2);
        }
    }

    /// The parameters of a function that is given each element.
    fn function(&self, begin: usize, method: &str, found: &mut Elements) {
        let open = begin + usize::from(self.name(begin) == Some("function"));
        if !self.is(open, '(') {
            return found.variables.extend(self.name(open).map(str::to_owned));
        }
        let first = if method == "reduce" { self.after_comma(open + 1) } else { open + 1 };
        if self.is(first, '[') {
            let close = closed(self.all, first);
            found.take((first..close).filter_map(|at| self.name(at)).collect());
        } else {
            found.variables.extend(self.name(first).map(str::to_owned));
        }
    }

    /// The place behind the next comma outside of brackets.
    fn after_comma(&self, mut at: usize) -> usize {
        while at < self.all.len() && !self.is(at, ',') {
            at = if self.is(at, '[') || self.is(at, '{') { closed(self.all, at) } else { at + 1 };
        }
        at + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::words;

    fn of(language: Language, body: &str) -> Elements {
        let all: Vec<Word> = words(language, body).into_iter().filter(|word| *word != Word::End).collect();
        Elements::of(language, &all, "xs")
    }

    fn size(language: Language, body: &str) -> usize {
        of(language, body).size()
    }

    #[test]
    fn elements_that_are_taken_apart_have_parts() {
        for (body, parts) in [
            ("    for s, e in xs:\n        pass\n", 2),
            ("    for (s, e) in sorted(xs):\n        pass\n", 2),
            ("    return [a + c for a, b, c in xs[1:]]\n", 3),
            ("    xs.sort(key=lambda x: x[1])\n", 2),
            ("    return sorted(xs, key=lambda x: x[2])\n", 3),
            ("    for x in xs:\n        a, b = x\n", 2),
            ("    return xs[i][1] + xs[-1][0]\n", 2),
            ("    for i, x in enumerate(xs):\n        pass\n", 0),
            ("    for k, v in xs.items():\n        pass\n", 0),
            ("    for a, b in zip(xs, xs[1:]):\n        pass\n", 0),
            ("    all = sorted(xs)\n    for a, b, c in all:\n        pass\n", 3),
            ("    first = xs[0]\n    return first[1]\n", 2),
            ("    n = xs.index(1)\n    return n[1]\n", 0),
            ("    for x in xs:\n        n += x\n", 0),
        ] {
            assert_eq!(size(Language::Python, body), parts, "{body}");
        }
        for (body, parts) in [
            ("  for (const [a, b] of xs) n += a;\n", 2),
            ("  return xs.map(([a, b]) => a + b);\n", 2),
            ("  return [...xs].sort((a, b) => a[1] - b[1]);\n", 2),
            ("  return xs.slice().reduce((n, [a, b, c]) => n + c, 0);\n", 3),
            ("  const all = [...xs].sort((a, b) => a[0] - b[0]);\n  for (const [s, e] of all) n += e;\n", 2),
            ("  return xs.map(x => x + 1);\n", 0),
        ] {
            assert_eq!(size(Language::JavaScript, body), parts, "{body}");
        }
    }

    #[test]
    fn parts_have_the_kinds_that_their_names_say() {
        let named = of(Language::Python, "    for name, score in xs:\n        pass\n");
        assert_eq!(named.kind(false), Kind::Tuple(vec![Kind::Text, Kind::Int]));
        let pair = of(Language::Python, "    for s, e in xs:\n        out[-1][1] = e\n");
        assert_eq!((pair.kind(true), pair.are_set), (Kind::Pair(Pair { is_list: true, is_rising: false }), true));
    }

    #[test]
    fn elements_may_be_called() {
        for body in ["    for f in reversed(xs):\n        x = f(x)\n", "    return xs[0](x)\n"] {
            assert!(of(Language::Python, body).are_called, "{body}");
        }
        assert!(of(Language::JavaScript, "  return xs.reduce((x, f) => f(x), 1);\n").are_called);
        let keys = of(Language::Python, "    for r in xs:\n        n += r[key]\n").keys;
        assert_eq!(keys, ["key"]);
    }
}
