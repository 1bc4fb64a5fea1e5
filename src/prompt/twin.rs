//! Functions that are like each other: `encode` and `decode`, `to_json` and `from_json`.

use super::others::parts;
use super::sheet::Sheet;
use crate::code::{ItemKind, Target, words_of_names};

/// Most functions that are shown because they are like the function.
const MOST: usize = 4;

/// Words that make two functions a pair.
const PAIRS: &[(&str, &str)] = &[
    ("from", "to"),
    ("load", "dump"),
    ("loads", "dumps"),
    ("load", "save"),
    ("get", "set"),
    ("read", "write"),
    ("push", "pop"),
    ("put", "get"),
    ("add", "remove"),
    ("insert", "delete"),
    ("parse", "format"),
    ("open", "close"),
    ("start", "stop"),
    ("next", "previous"),
    ("min", "max"),
    ("first", "last"),
];
/// Least letters that two words of a pair have in common at one end.
const LEAST: usize = 4;

/// The functions of the file that are named or declared like this one, the most alike first, then the
/// nearest.
pub(super) fn of(target: &Target, sheet: &Sheet) -> Vec<usize> {
    let place = target.function.start;
    let own = sheet.items.iter().find(|item| item.name == target.name && item.range.contains(&place));
    let own = Function { name: &target.name, head: own.map_or("", |item| &item.signature) };
    let rate = |i: usize| {
        let other = Function { name: &sheet.items[i].name, head: &sheet.items[i].signature };
        Some((own.likeness(&other)?, sheet.distance(i), i))
    };
    let functions = sheet.others().filter(|&i| sheet.items[i].kind == ItemKind::Function && !sheet.is_test(i));
    let mut rated: Vec<_> = functions.filter_map(rate).collect();
    rated.sort_unstable();
    rated.into_iter().take(MOST).map(|(_, _, i)| i).collect()
}

/// How much two functions are like each other, the most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// The words in which their names differ are a pair.
    Pair,
    /// Their names differ in one word.
    Name,
    /// They have the same parameters, at least two.
    Parameters,
    /// They have the same name, in other scopes.
    Elsewhere,
}

/// A function with its dotted name and its head.
#[derive(Clone, Copy, Debug)]
struct Function<'a> {
    name: &'a str,
    /// Text in which the parameters follow the name.
    head: &'a str,
}

impl Function<'_> {
    /// How much another function of the file is like this one.
    fn likeness(&self, other: &Self) -> Option<Likeness> {
        let ((own, scope), (name, other_scope)) = (parts(self.name), parts(other.name));
        if scope != other_scope {
            return (own == name).then_some(Likeness::Elsewhere);
        }
        let (a, b) = (words_of_names(own), words_of_names(name));
        let mut differ = a.iter().zip(&b).filter(|(a, b)| a != b);
        if let (true, Some((one, two)), None) = (a.len() == b.len(), differ.next(), differ.next()) {
            if is_pair(one, two) {
                return Some(Likeness::Pair);
            }
            if a.len() > 1 {
                return Some(Likeness::Name);
            }
        }
        let same = self.parameters().filter(|text| text.contains(',') && Some(*text) == other.parameters());
        same.map(|_| Likeness::Parameters)
    }

    /// The text between the brackets behind its name.
    fn parameters(&self) -> Option<&str> {
        let own = parts(self.name).0;
        let (_, rest) = self.head.split_once(&format!("{own}("))?;
        let mut depth = 1_usize;
        let end = rest.bytes().position(|byte| {
            depth = match byte {
                b'(' => depth + 1,
                b')' => depth - 1,
                _ => depth,
            };
            depth == 0
        })?;
        Some(&rest[..end])
    }
}

fn is_pair(a: &str, b: &str) -> bool {
    let common = |a: &mut dyn Iterator<Item = char>, b: &mut dyn Iterator<Item = char>| {
        a.zip(b).take_while(|(a, b)| a == b).count()
    };
    let ends = common(&mut a.chars().rev(), &mut b.chars().rev());
    PAIRS.contains(&(a, b)) || PAIRS.contains(&(b, a)) || ends >= LEAST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_parameters_make_functions_alike() {
        let likeness = |name: &str, head: &str, other: &str, other_head: &str| {
            Function { name, head }.likeness(&Function { name: other, head: other_head })
        };
        let of_names = |a, b| likeness(a, "", b, "");
        for (a, b) in [
            ("encode", "decode"),
            ("A.to_json", "A.from_json"),
            ("toJson", "fromJson"),
            ("loads", "dumps"),
            ("serialize", "deserialize"),
            ("Stack.pop", "Stack.push"),
        ] {
            assert_eq!((of_names(a, b), of_names(b, a)), (Some(Likeness::Pair), Some(Likeness::Pair)), "{a} {b}");
        }
        assert_eq!(of_names("visit_name", "visit_call"), Some(Likeness::Name));
        assert_eq!(of_names("A.convert", "B.convert"), Some(Likeness::Elsewhere));
        for (a, b) in [("A.encode", "B.decode"), ("encode", "size"), ("read", "render"), ("to_json", "to_json_line")] {
            assert_eq!(of_names(a, b), None, "{a} {b}");
        }
        let with = |parameters: &str| likeness("mean", &format!("def mean{parameters}:"), "sum", "def sum(a, b=(1)):");
        assert_eq!(with("(a, b=(1)) -> int"), Some(Likeness::Parameters));
        assert_eq!((with("(a)"), with("(a, c)"), with("(a, b=(1)")), (None, None, None));
    }
}
