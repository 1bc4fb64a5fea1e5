//! Kinds of values that a parameter takes, and typical values of each.

use super::value::Value;

/// A kind of values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Unknown,
    Bool,
    Int,
    Float,
    Text,
    List(Box<Kind>),
    Tuple(Vec<Kind>),
    Set(Box<Kind>),
    Dict(Box<Kind>, Box<Kind>),
    Function,
}

/// Numbers: small, negative, the edges of digits, large.
const INTS: &[i64] = &[
    0, 1, 2, 3, 10, -1, 7, 100, -5, 12, 4, 1000, 5, 9, 11, 6, 8, 16, 27, 99, 13, 64, 20, 36, 101, 15, 123, 21, 49, 30,
];
const FLOATS: &[f64] = &[0.0, 1.0, 0.5, -1.5, 3.75, 2.0, 100.25, -0.1, 10.0, 1e6];
/// Texts: empty, single, repeated, a palindrome, mixed case, digits, spaces, brackets, beyond ASCII.
const TEXTS: &[&str] = &[
    "", "a", "abc", "hello world", "aabbcc", "Hello, World!", "racecar", "12345", "zyx", " two  spaces ", "aB3\u{e9}",
    "()", "x_y-z", "The quick brown fox", "AAA",
];

impl Kind {
    /// The kind of a value.
    pub fn of(value: &Value) -> Self {
        let all = |values: &[Value]| Box::new(values.iter().map(Self::of).fold(Self::Unknown, Self::or));
        match value {
            Value::None | Value::Other(_) => Self::Unknown,
            Value::Function(_) => Self::Function,
            Value::Bool(_) => Self::Bool,
            Value::Int(_) => Self::Int,
            Value::Float(_) => Self::Float,
            Value::Text(_) => Self::Text,
            Value::List(values) => Self::List(all(values)),
            Value::Tuple(values) => Self::Tuple(values.iter().map(Self::of).collect()),
            Value::Set(values) => Self::Set(all(values)),
            Value::Dict(entries) => {
                let (keys, values): (Vec<_>, Vec<_>) = entries.iter().cloned().unzip();
                Self::Dict(all(&keys), all(&values))
            }
        }
    }

    /// The kind of values of both kinds, as far as one fits.
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, other) => other,
            (Self::Int, Self::Float) => Self::Float,
            (Self::List(a), Self::List(b)) => Self::List(Box::new(a.or(*b))),
            (Self::Set(a), Self::Set(b)) => Self::Set(Box::new(a.or(*b))),
            (Self::Dict(a, b), Self::Dict(c, d)) => Self::Dict(Box::new(a.or(*c)), Box::new(b.or(*d))),
            (kind, _) => kind,
        }
    }

    /// The kind that an annotation names.
    pub fn of_annotation(text: &str) -> Self {
        let text = text.trim().trim_matches(['"', '\'']);
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_lowercase();
        if let Some(inside) = text.strip_suffix("[]") {
            return Self::List(Box::new(Self::of_annotation(inside)));
        }
        if let Some((first, other)) = text.split_once('|').filter(|(first, _)| !first.contains(['[', '<'])) {
            return Self::of_annotation(first).or(Self::of_annotation(other));
        }
        let (name, inside) = match text.split_once(['[', '<']) {
            Some((name, inside)) => (last(name.trim()), inside.trim_end().strip_suffix([']', '>']).unwrap_or(inside)),
            None => (last(text), ""),
        };
        let mut inside = split(inside).map(Self::of_annotation);
        let mut next = || Box::new(inside.next().unwrap_or_default());
        match name.as_str() {
            "int" | "integer" | "number" | "bigint" => Self::Int,
            "float" | "double" | "decimal" => Self::Float,
            "str" | "string" | "text" => Self::Text,
            "bool" | "boolean" => Self::Bool,
            "list" | "sequence" | "iterable" | "array" | "readonlyarray" | "collection" => Self::List(next()),
            "set" | "frozenset" => Self::Set(next()),
            "dict" | "mapping" | "record" | "map" | "defaultdict" => Self::Dict(next(), next()),
            "tuple" => Self::Tuple(inside.filter(|kind| *kind != Self::Unknown).collect()),
            "callable" | "function" => Self::Function,
            "optional" | "union" => *next(),
            _ => Self::Unknown,
        }
    }

    /// The kind that parameters of this name usually have.
    pub fn of_name(name: &str) -> Self {
        let is_question = |head: &str| {
            let rest = name.strip_prefix(head);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_uppercase()))
        };
        if is_question("is") || is_question("has") {
            return Self::Bool;
        }
        let name = name.trim_matches(|c: char| c == '_' || c.is_numeric()).to_lowercase();
        let has = |words: &[&str]| words.contains(&name.as_str());
        let ends = |words: &[&str]| words.iter().any(|word| name.ends_with(word));
        let list = |kind| Self::List(Box::new(kind));
        let is_function = ["func", "function", "predicate", "pred", "callback", "mapper", "iteratee", "comparator"];
        if ends(&is_function) || has(&["fn", "cb", "key_func", "keyfunc"]) {
            Self::Function
        } else if ends(&["matrix", "grid", "rows", "board"]) {
            list(list(Self::Int))
        } else if ends(&["words", "strings", "names", "lines", "texts", "sentences", "tokens"]) || has(&["strs"]) {
            list(Self::Text)
        } else if ends(&["text", "string", "word", "name", "sentence", "char", "message", "path", "line", "title"])
            || has(&["s", "t", "str", "txt", "c", "ch", "letter", "pattern", "prefix", "suffix", "sep", "key", "date"])
        {
            Self::Text
        } else if ends(&[
            "list", "array", "numbers", "nums", "values", "items", "elements", "iterable", "sequence", "collection",
        ]) || has(&["lst", "arr", "li", "l", "xs", "ys", "seq", "data", "a_list"])
        {
            list(Self::Int)
        } else if ends(&["dict", "mapping", "dictionary", "counts"]) || has(&["d", "obj", "map"]) {
            Self::Dict(Box::new(Self::Text), Box::new(Self::Int))
        } else if ends(&["tuple", "tup"]) {
            Self::Tuple(vec![Self::Int, Self::Int, Self::Int])
        } else if name.len() > 3 && name.ends_with('s') && !name.ends_with("ss") {
            list(Self::Int)
        } else {
            Self::Int
        }
    }

    /// The typical value of this number; they repeat after some.
    pub fn typical(&self, number: usize) -> Value {
        match self {
            Self::Function => Value::Function(number),
            Self::Bool => Value::Bool(number.is_multiple_of(2)),
            Self::Unknown | Self::Int => Value::Int(INTS[number % INTS.len()]),
            Self::Float => Value::Float(FLOATS[number % FLOATS.len()]),
            Self::Text => Value::Text(TEXTS[number % TEXTS.len()].to_owned()),
            Self::List(kind) => Value::List(kind.several(number)),
            Self::Tuple(kinds) if kinds.is_empty() => Value::Tuple(Self::Int.several(number)),
            Self::Tuple(kinds) => {
                Value::Tuple(kinds.iter().enumerate().map(|(at, kind)| kind.typical(number + at)).collect())
            }
            Self::Set(kind) => {
                let mut all: Vec<Value> = Vec::new();
                for one in kind.several(number) {
                    if !all.contains(&one) {
                        all.push(one);
                    }
                }
                Value::Set(all)
            }
            Self::Dict(key, value) => {
                let key = if **key == Self::Unknown { &Self::Text } else { key };
                let size = [0, 1, 3, 2, 4][number % 5];
                Value::Dict(
                    (0..size).map(|at| (key.typical(number + 2 * at + 1), value.typical(number + at + 2))).collect(),
                )
            }
        }
    }

    /// Values of a list: none, one, some, equal ones, falling, rising, negative ones, many.
    fn several(&self, number: usize) -> Vec<Value> {
        let at = |places: &[usize]| places.iter().map(|&at| self.typical(at)).collect();
        match number % 9 {
            0 => at(&[]),
            1 => at(&[2]),
            2 => at(&[1, 2, 3]),
            3 => at(&[2, 2, 1, 2]),
            4 => at(&[4, 3, 2, 1]),
            5 => at(&[5, 1, 8, 3]),
            6 => at(&[0, 0]),
            7 => at(&[7, 1, 4, 1, 6, 9, 2, 3, 11, 5]),
            _ => at(&[3, 6, 2]),
        }
    }
}

/// The parts of a text between commas outside of brackets.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |c| {
        depth += i32::from(matches!(c, '[' | '<' | '(')) - i32::from(matches!(c, ']' | '>' | ')'));
        c == ',' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_and_names_say_kinds() {
        let list = |kind| Kind::List(Box::new(kind));
        let cases = [
            ("List[int]", list(Kind::Int)),
            ("typing.Dict[str, list[float]]", Kind::Dict(Box::new(Kind::Text), Box::new(list(Kind::Float)))),
            ("Optional[str]", Kind::Text),
            ("int | None", Kind::Int),
            ("number[][]", list(list(Kind::Int))),
            ("Array<string>", list(Kind::Text)),
            ("Tuple[int, str]", Kind::Tuple(vec![Kind::Int, Kind::Text])),
            ("Thing", Kind::Unknown),
        ];
        for (text, kind) in cases {
            assert_eq!(Kind::of_annotation(text), kind, "{text}");
        }
        assert_eq!(["pred", "map_func"].map(Kind::of_name), [Kind::Function, Kind::Function]);
        assert_eq!(["pred", "map_func", "fn"].map(Kind::of_name), [Kind::Function, Kind::Function, Kind::Function]);
        assert_eq!(
            ["s", "nums1", "words", "n", "is_on", "hasNames", "isle"].map(Kind::of_name),
            [Kind::Text, list(Kind::Int), list(Kind::Text), Kind::Int, Kind::Bool, Kind::Bool, Kind::Int]
        );
    }
}
