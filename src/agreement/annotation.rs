//! Kinds by annotations: types of the language and its library, and those that the file declares.

use super::kind::{Kind, PROMISE, Parameter, Way};
use super::value::{Value, literal, parts};
use crate::code::{Declarations, Declared};
use crate::language::Language;

/// Types inside types that are followed.
const DEEPEST: usize = 4;

/// Expressions for values of Python's library types.
const PYTHON: &[(&str, &[&str])] = &[
    ("bytes", &["b\"\"", "b\"a\"", "b\"abc\"", "b\"hello world\"", "b\"\\x00\\xff\"", "b\"aabbcc\"", "b\"12\\n\""]),
    ("complex", &["0j", "1 + 2j", "-1j", "3 + 0j", "0.5 - 1.5j"]),
    ("range", &["range(0)", "range(5)", "range(2, 9, 3)", "range(3, 0, -1)"]),
];

/// Arguments by which Python's library types make values.
const CALLED: &[(&str, &[&str])] = &[
    ("bytearray", &["b\"\"", "b\"abc\"", "b\"\\x00\\xff\"", "b\"aabbcc\""]),
    ("date", &["2024, 2, 29", "2023, 1, 1", "2000, 12, 31", "2024, 5, 18", "1999, 3, 1", "2026, 11, 30", "2024, 6, 9"]),
    (
        "datetime",
        &["2024, 2, 29, 13, 45", "2023, 1, 1", "2000, 12, 31, 23, 59, 59", "2024, 5, 18, 6, 0, 1", "2026, 11, 30, 12"],
    ),
    ("time", &["0, 0", "13, 45", "23, 59, 59", "6, 5, 1", "12"]),
    ("timedelta", &["0", "1", "hours=1", "minutes=90", "days=-1", "seconds=59", "days=400, hours=5"]),
    ("decimal", &["\"0\"", "\"1.50\"", "\"-2.25\"", "\"10\"", "\"0.005\"", "\"99.995\"", "\"1000000\"", "\"-0.1\""]),
    ("fraction", &["0", "1, 2", "-3, 4", "5", "22, 7"]),
    ("uuid", &["int=0", "int=1", "\"12345678-1234-5678-1234-567812345678\""]),
    ("counter", &["", "\"aab\"", "\"abcabc\"", "[1, 1, 2]"]),
    ("stringio", &["\"\"", "\"a\\nb\\n\"", "\"1,2\\n3,4\\n\"", "\"one\""]),
    ("bytesio", &["b\"\"", "b\"a\\nb\\n\"", "b\"\\x00\\xff\""]),
];

/// Expressions for values of JavaScript's types.
const JAVASCRIPT: &[(&str, &[&str])] = &[
    (
        "Date",
        &[
            "new Date(\"2024-02-29T13:45:00Z\")", "new Date(0)", "new Date(\"2000-12-31T23:59:59Z\")",
            "new Date(\"2024-05-18T00:00:00Z\")", "new Date(\"2026-11-30T12:00:00Z\")",
        ],
    ),
    ("RegExp", &["/a+/", "/^$/", "/[0-9]+/g", "/B/i"]),
    ("bigint", &["0n", "1n", "-5n", "12n", "100n", "9007199254740993n"]),
    ("Buffer", &["Buffer.from(\"\")", "Buffer.from(\"abc\")", "Buffer.from([0, 255])"]),
    ("Uint8Array", &["new Uint8Array([])", "new Uint8Array([1, 2, 3])", "new Uint8Array([0, 255])"]),
    ("Error", &["new Error(\"a\")", "new TypeError(\"b c\")", "new Error()"]),
    ("URL", &["new URL(\"https://example.com/a?b=1\")", "new URL(\"http://localhost:80\")"]),
    ("null", &["null"]),
    ("undefined", &["undefined"]),
];

/// Dates with times, where code shows that it takes some.
pub fn dates(language: Language) -> Kind {
    let declared = Declarations::of_file(language, "");
    let name = if language == Language::Python { "__import__(\"datetime\").datetime" } else { "Date" };
    Types { language, declared: &declared }.kind(name)
}

/// Types as a file names them.
#[derive(Clone, Copy)]
pub struct Types<'a> {
    pub language: Language,
    /// Types of the file.
    pub declared: &'a Declarations,
}

impl Types<'_> {
    /// The kind that an annotation names.
    pub fn kind(self, annotation: &str) -> Kind {
        self.inside(annotation, 0)
    }

    /// New objects of a class of the file.
    pub fn object(self, class: &str) -> Option<Kind> {
        match self.declared.of(class)? {
            Declared::Class(head) => Some(Kind::New(self.maker(class), self.parameters(&head, 1))),
            _ => None,
        }
    }

    fn maker(self, class: &str) -> String {
        if self.is_python() { class.to_owned() } else { format!("new {class}") }
    }

    fn is_python(self) -> bool {
        self.language == Language::Python
    }

    fn inside(self, annotation: &str, depth: usize) -> Kind {
        let text = annotation.trim();
        if depth > DEEPEST || text.is_empty() {
            return Kind::Unknown;
        }
        let text = if self.is_python() { text.trim_matches(['"', '\'']) } else { text };
        let each = split(text, '|');
        if each.len() > 1 {
            return self.any_of(&each, depth);
        }
        if let Some(of) = text.strip_prefix("keyof ").filter(|_| !self.is_python()) {
            return match self.inside(of, depth + 1) {
                Kind::Fields(fields) => Kind::OneOf(fields.iter().map(|field| format!("{:?}", field.name)).collect()),
                _ => Kind::Text,
            };
        }
        if is_function(text) && ["void", "Promise<void>", "unknown"].contains(&result_of(text)) {
            return Kind::callback();
        }
        if is_function(text) {
            let given = text.strip_prefix("()").and_then(|rest| rest.trim_start().strip_prefix("=>"));
            return given.map_or(Kind::Function, |kind| Kind::Gives(Box::new(self.inside(kind, depth + 1))));
        }
        if let Some(inside) = text.strip_suffix("[]") {
            return Kind::List(Box::new(self.inside(inside, depth)));
        }
        if let Some(inside) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
            return self.inside(inside, depth);
        }
        if !self.is_python() {
            if let Some((value, _)) = literal(text, self.language).filter(|(_, length)| *length == text.len())
                && !text.starts_with(['[', '{'])
                && value != Value::None
            {
                return Kind::OneOf(vec![text.to_owned()]);
            }
            if text.starts_with('{') {
                return Kind::Fields(self.parameters(text, depth));
            }
            if text.starts_with('[') && text.ends_with(']') {
                let each = split(&text[1..text.len() - 1], ',');
                return Kind::Tuple(each.iter().map(|kind| self.inside(kind, depth + 1)).collect());
            }
        }
        self.named(text, depth)
    }

    /// A type by its name, with those in its brackets.
    fn named(self, text: &str, depth: usize) -> Kind {
        let (spelled, inside) = match text.split_once(['[', '<']) {
            Some((name, inside)) => (name.trim(), inside.trim_end().strip_suffix([']', '>']).unwrap_or(inside)),
            None => (text, ""),
        };
        // A class of the file may have the name of another one.
        if let Some(kind) = self.of_file(spelled, depth) {
            return kind;
        }
        let last = spelled.rsplit('.').next().unwrap_or_default();
        let each = split(inside, ',');
        let at = |place: usize| Box::new(each.get(place).map_or(Kind::Unknown, |text| self.inside(text, depth + 1)));
        let known = match last.to_lowercase().as_str() {
            "int" | "integer" | "number" => Kind::Int,
            "float" | "double" => Kind::Float,
            "str" | "string" | "text" => Kind::Text,
            "bool" | "boolean" => Kind::Bool,
            "iterable" if self.is_python() => {
                let iterator = Kind::From("iter".to_owned(), Box::new(Kind::List(at(0))));
                Kind::Either(Box::new(Kind::List(at(0))), Box::new(iterator))
            }
            "list" | "sequence" | "iterable" | "array" | "readonlyarray" | "collection" => Kind::List(at(0)),
            "iterator" | "generator" if self.is_python() => Kind::From("iter".to_owned(), Box::new(Kind::List(at(0)))),
            "deque" if self.is_python() => Kind::From(spelled.to_owned(), Box::new(Kind::List(at(0)))),
            "frozenset" => Kind::From(last.to_owned(), Box::new(Kind::List(at(0)))),
            "set" | "abstractset" | "readonlyset" => Kind::Set(at(0)),
            "map" | "readonlymap" if !self.is_python() => {
                let one = Kind::Tuple(vec![or_text(*at(0)), *at(1)]);
                Kind::From("new Map".to_owned(), Box::new(Kind::List(Box::new(one))))
            }
            "dict" | "mapping" | "record" | "map" | "defaultdict" | "mutablemapping" => Kind::Dict(at(0), at(1)),
            "tuple" if each.len() == 2 && each[1] == "..." => Kind::Row(at(0)),
            "tuple" => Kind::Tuple((0..each.len()).map(|place| *at(place)).collect()),
            "callable" if each.get(1).is_some_and(|of| ["None", "Awaitable[None]"].contains(of)) => Kind::callback(),
            "callable" if each.first() == Some(&"[]") => Kind::Gives(at(1)),
            "callable" | "function" => Kind::Function,
            "promise" if !self.is_python() => Kind::From(PROMISE.to_owned(), at(0)),
            "optional" => Kind::Maybe(at(0)),
            "union" => self.any_of(&each, depth),
            "annotated" | "readonly" | "partial" | "required" | "notrequired" | "nonnullable" | "final" => *at(0),
            "literal" => Kind::OneOf(each.iter().map(|&text| text.to_owned()).collect()),
            _ => Kind::Unknown,
        };
        if known != Kind::Unknown {
            return known;
        }
        self.of_library(spelled, last).unwrap_or_default()
    }

    fn of_library(self, spelled: &str, last: &str) -> Option<Kind> {
        let listed = |table: &[(&str, &[&str])], name: &str| {
            table
                .iter()
                .find(|(other, _)| *other == name)
                .map(|(_, all)| all.iter().map(|&text| text.to_owned()).collect())
        };
        if !self.is_python() {
            return listed(JAVASCRIPT, spelled).map(Kind::OneOf);
        }
        if let Some(all) = listed(PYTHON, spelled) {
            return Some(Kind::OneOf(all));
        }
        let lower = last.to_lowercase();
        let (name, callee) = match last {
            "Pattern" => {
                let module = if spelled == "re.Pattern" { "re" } else { "__import__(\"re\")" };
                let all = ["a+", "^$", "[0-9]+", "(?i)b"];
                return Some(Kind::OneOf(all.map(|text| format!("{module}.compile(\"{text}\")")).into()));
            }
            "TextIO" | "IO" => ("stringio", "__import__(\"io\").StringIO"),
            "BinaryIO" => ("bytesio", "__import__(\"io\").BytesIO"),
            "Path" | "PurePath" | "PosixPath" => {
                return Some(Kind::From(spelled.to_owned(), Box::new(Kind::Path(Vec::new()))));
            }
            _ => (lower.as_str(), spelled),
        };
        let all: Vec<String> = listed(CALLED, name)?;
        Some(Kind::OneOf(all.iter().map(|inside| format!("{callee}({inside})")).collect()))
    }

    fn of_file(self, name: &str, depth: usize) -> Option<Kind> {
        Some(match self.declared.of(name)? {
            Declared::Members(all) if all.is_empty() => return None,
            Declared::Members(all) => Kind::OneOf(all),
            Declared::Fields(fields) => Kind::Fields(self.parameters(&fields, depth + 1)),
            Declared::Class(head) => Kind::New(self.maker(name), self.parameters(&head, depth + 1)),
            Declared::Alias(text) => self.inside(&text, depth + 1),
        })
    }

    /// One of several types.
    fn any_of(self, each: &[&str], depth: usize) -> Kind {
        let is_none = |text: &&str| ["None", "null", "undefined"].contains(text);
        let kinds = each.iter().filter(|text| !is_none(text)).map(|text| self.inside(text, depth + 1));
        let kinds = kinds.filter(|kind| *kind != Kind::Unknown);
        let any = kinds.reduce(|one, other| match (one, other) {
            (one, other) if one == other => one,
            (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => Kind::Float,
            (Kind::OneOf(one), Kind::OneOf(other)) => Kind::OneOf([one, other].concat()),
            (one, other) => Kind::Either(Box::new(one), Box::new(other)),
        });
        match any {
            Some(kind) if each.iter().any(is_none) => Kind::Maybe(Box::new(kind)),
            kind => kind.unwrap_or_default(),
        }
    }

    /// Parameters with an object in the place of a type parameter that others are keys of:
    /// `<T, K extends keyof T>`. The text before them ends with the type parameters.
    pub fn bound(self, before: &str, parameters: &str) -> String {
        let inside = before.trim_end().strip_suffix('>').and_then(|text| Some(&text[opened(text)? + 1..]));
        let Some(inside) = inside.filter(|_| self.language == Language::TypeScript) else {
            return parameters.to_owned();
        };
        let each: Vec<(&str, &str)> =
            split(inside, ',').into_iter().map(|part| part.split_once(" extends ").unwrap_or((part, ""))).collect();
        let is_open = |bound: &str| ["", "object", "{}"].contains(&bound) || bound.starts_with("Record<");
        let mut bound = parameters.to_owned();
        for (key, of) in each.iter().filter_map(|(name, of)| Some((name, of.strip_prefix("keyof ")?))) {
            bound = renamed(&bound, key, &format!("(keyof {of})"));
        }
        for (name, _) in each.iter().filter(|(_, of)| is_open(of.trim())) {
            if bound.contains(&format!("keyof {name}")) {
                bound = renamed(&bound, name, OBJECT);
            }
        }
        bound
    }

    /// The parameters in brackets, without those that take what others leave by name, and the object of a
    /// method. Fields of a type are written in the same way.
    pub fn parameters(self, text: &str, depth: usize) -> Vec<Parameter> {
        let Some(open) = text.find(['(', '{']) else { return Vec::new() };
        let text = &if self.is_python() { text.to_owned() } else { text.replace(';', ",") };
        let mut all = Vec::new();
        let mut way = Way::Placed;
        for (place, part) in parts(text, open + 1, self.language).into_iter().enumerate() {
            let part = part.trim();
            let is_object =
                place == 0 && ["self", "cls", "this"].contains(&part.split([':', ',']).next().unwrap_or(part));
            // Behind `*` parameters have to be named.
            if part.starts_with('*') && self.is_python() {
                let rest = part.trim_start_matches('*');
                if !part.starts_with("**") && !rest.is_empty() {
                    all.extend(self.parameter(rest, depth).map(|one| Parameter { way: Way::Rest, ..one }));
                }
                way = Way::Named;
            } else if let Some(rest) = part.strip_prefix("...") {
                let one = self.parameter(rest, depth).map(|one| Parameter { way: Way::Rest, ..one });
                all.extend(one.map(|one| match one.kind {
                    Kind::List(kind) => Parameter { kind: *kind, ..one },
                    _ => one,
                }));
            } else if !is_object {
                let fields = text[open..].starts_with('{');
                let way = if fields { Way::Named } else { way };
                all.extend(self.parameter(part, depth).map(|one| Parameter { way, ..one }));
            }
        }
        all
    }

    fn parameter(self, text: &str, depth: usize) -> Option<Parameter> {
        let text = ["public ", "private ", "protected ", "readonly "]
            .iter()
            .fold(text, |text, word| text.trim_start_matches(word));
        let (declared, default) = defaulted(text);
        let (name, annotation) = match split_first(declared, ':') {
            Some((name, kind)) => (name.trim(), Some(kind)),
            None => (declared.trim(), None),
        };
        let is_optional = name.ends_with('?');
        let name = name.trim_end_matches('?');
        let of_default = || default.and_then(|text| literal(text, self.language)).map(|(value, _)| Kind::of(&value));
        let kind = annotation.map(|text| self.inside(text, depth)).unwrap_or_default();
        let has_default = default.is_some() || is_optional;
        if name.starts_with('{') && !self.is_python() {
            let kind = if kind == Kind::Unknown { self.destructured(name, depth) } else { kind };
            return Some(Parameter { name: String::new(), kind, has_default, way: Way::Placed });
        }
        if name.starts_with('[') && !self.is_python() {
            let kind = if kind == Kind::Unknown { Kind::List(Box::new(Kind::Int)) } else { kind };
            return Some(Parameter { name: String::new(), kind, has_default, way: Way::Placed });
        }
        let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        let kind = kind.or(of_default().unwrap_or_default());
        is_plain.then(|| Parameter { name: name.to_owned(), kind, has_default, way: Way::Placed })
    }

    /// The fields of an object that a parameter takes apart: `{ a, b: c = 1 }`.
    fn destructured(self, text: &str, depth: usize) -> Kind {
        let mut fields = Vec::new();
        for part in parts(text, 1, self.language) {
            let (declared, default) = defaulted(part);
            let name = declared.split(':').next().unwrap_or_default().trim();
            fields.extend(self.parameter(name, depth).map(|one| Parameter {
                kind: Kind::of_name(&one.name),
                has_default: default.is_some(),
                ..one
            }));
        }
        let named = fields.into_iter().map(|field| Parameter { way: Way::Named, ..field });
        Kind::Fields(named.collect())
    }
}

/// The type of an object whose keys are asked for.
const OBJECT: &str = "{ a: number, b: string, c?: number }";

/// The byte of the last bracket of types that is open at the end of a text.
fn opened(text: &str) -> Option<usize> {
    text.rmatch_indices('<').map(|(at, _)| at).find(|at| depth_of(&text[*at..]) == 1)
}

/// A text with another one in the place of a name.
fn renamed(text: &str, name: &str, by: &str) -> String {
    let is_inner = |c: char| c.is_alphanumeric() || "_$".contains(c);
    let mut out = String::new();
    let mut end = 0;
    for (at, found) in text.match_indices(name) {
        let after = &text[at + found.len()..];
        if !text[..at].ends_with(is_inner) && !after.starts_with(is_inner) {
            out.extend([&text[end..at], by]);
            end = at + found.len();
        }
    }
    out + &text[end..]
}

/// Keys of a map are texts where nothing says what they are.
fn or_text(kind: Kind) -> Kind {
    if kind == Kind::Unknown { Kind::Text } else { kind }
}

/// A parameter and its default.
fn defaulted(text: &str) -> (&str, Option<&str>) {
    let is_it = |(at, _): &(usize, &str)| {
        let (before, after) = (&text[..*at], &text[at + 1..]);
        !after.starts_with(['>', '=']) && !before.ends_with(['=', '!', '<', '>']) && depth_of(before) == 0
    };
    match text.match_indices('=').find(is_it) {
        Some((at, _)) => (&text[..at], Some(text[at + 1..].trim())),
        None => (text, None),
    }
}

/// A type of functions: `(x: T) => K`, `() => void`.
fn is_function(text: &str) -> bool {
    text.match_indices("=>").any(|(at, _)| depth_of(&text[..at]) == 0)
}

/// The type that functions of a type return.
fn result_of(text: &str) -> &str {
    text.rsplit("=>").next().unwrap_or_default().trim()
}

/// Brackets that are open at the end of a text.
fn depth_of(text: &str) -> i32 {
    let mut depth = 0;
    let mut last = ' ';
    for c in text.chars() {
        depth += i32::from(matches!(c, '[' | '<' | '(' | '{'));
        depth -= i32::from(matches!(c, ']' | ')' | '}') || c == '>' && last != '=');
        last = c;
    }
    depth
}

/// The text on both sides of the first such character outside of brackets.
fn split_first(text: &str, mark: char) -> Option<(&str, &str)> {
    let (at, _) = text.match_indices(mark).find(|(at, _)| depth_of(&text[..*at]) == 0)?;
    Some((&text[..at], &text[at + mark.len_utf8()..]))
}

/// The parts of a text between such characters outside of brackets and strings.
fn split(text: &str, mark: char) -> Vec<&str> {
    let mut all = Vec::new();
    let mut begin = 0;
    let mut open = None;
    let mut depth = 0;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        match (open, c) {
            (Some(quote), c) if c == quote => open = None,
            (None, '"' | '\'' | '`') => open = Some(c),
            (None, '[' | '<' | '(' | '{') => depth += 1,
            (None, ']' | ')' | '}') => depth -= 1,
            (None, '>') if last != '=' => depth -= 1,
            // Behind an arrow all belongs to what the function returns.
            (None, '>') if mark == '|' && depth == 0 => return vec![text],
            (None, c) if c == mark && depth == 0 => {
                all.push(text[begin..at].trim());
                begin = at + c.len_utf8();
            }
            _ => {}
        }
        last = c;
    }
    all.push(text[begin..].trim());
    all.retain(|part| !part.is_empty());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(language: Language, file: &str, annotation: &str) -> Vec<String> {
        let declared = Declarations::of_file(language, file);
        let kind = Types { language, declared: &declared }.kind(annotation);
        (0..6).map(|number| kind.typical(number).written(language)).collect()
    }

    #[test]
    fn annotations_say_kinds() {
        let list = |kind| Kind::List(Box::new(kind));
        let language = Language::Python;
        let declared = Declarations::of_file(language, "");
        let cases = [
            ("List[int]", list(Kind::Int)),
            ("typing.Dict[str, list[float]]", Kind::Dict(Box::new(Kind::Text), Box::new(list(Kind::Float)))),
            ("Optional[str]", Kind::Maybe(Box::new(Kind::Text))),
            ("int | None", Kind::Maybe(Box::new(Kind::Int))),
            ("Union[int, float]", Kind::Float),
            ("int | str", Kind::Either(Box::new(Kind::Int), Box::new(Kind::Text))),
            ("Tuple[int, str]", Kind::Tuple(vec![Kind::Int, Kind::Text])),
            ("tuple[int, ...]", Kind::Row(Box::new(Kind::Int))),
            ("Callable[[int], str]", Kind::Function),
            ("Callable[[], float]", Kind::Gives(Box::new(Kind::Float))),
            ("Callable[[], Any] | None", Kind::Maybe(Box::new(Kind::Gives(Box::default())))),
            ("\"int\"", Kind::Int),
            ("Thing", Kind::Unknown),
        ];
        for (text, kind) in cases {
            assert_eq!(Types { language, declared: &declared }.kind(text), kind, "{text}");
        }
        let cases = [
            ("number[][]", list(list(Kind::Int))),
            ("Array<string>", list(Kind::Text)),
            ("(string | null)[]", list(Kind::Maybe(Box::new(Kind::Text)))),
            ("(x: T) => K | null", Kind::Function),
            (
                "Array<() => Promise<number>>",
                list(Kind::Gives(Box::new(Kind::From("Promise.resolve".to_owned(), Box::new(Kind::Int))))),
            ),
            ("[string, number]", Kind::Tuple(vec![Kind::Text, Kind::Int])),
            ("'a' | \"b|c\"", Kind::OneOf(vec!["'a'".to_owned(), "\"b|c\"".to_owned()])),
        ];
        for (text, kind) in cases {
            assert_eq!(Types { language: Language::TypeScript, declared: &declared }.kind(text), kind, "{text}");
        }
    }

    #[test]
    fn types_of_the_library_are_written_as_the_file_names_them() {
        let python = |annotation| values(Language::Python, "", annotation);
        assert_eq!(python("dt.date")[0], "dt.date(2024, 2, 29)");
        assert_eq!(python("Decimal")[1], "Decimal(\"1.50\")");
        assert_eq!(python("list[pathlib.Path]")[1], "[pathlib.Path(\"\")]");
        assert_eq!(python("Literal['x', 'y']")[..3], ["'x'", "'y'", "'x'"]);
        assert_eq!(python("Iterator[int]")[1], "iter([2])");
        assert_eq!(python("Iterable[int]")[2..4], ["[2]", "iter([2])"]);
        let dates =
            [Language::Python, Language::JavaScript].map(|language| dates(language).typical(1).written(language));
        assert_eq!(dates, ["__import__(\"datetime\").datetime(2023, 1, 1)", "new Date(0)"]);
        assert_eq!(python("re.Pattern[str]")[0], "re.compile(\"a+\")");
        let typescript = |annotation| values(Language::TypeScript, "", annotation);
        assert_eq!(typescript("Date")[1], "new Date(0)");
        assert_eq!(typescript("Map<string, number>")[1], "new Map([[\"abc\", 3]])");
    }

    #[test]
    fn types_of_the_file_are_made() {
        let text = "class Color(Enum):\n    RED = 1\n    BLUE = 2\n\n@dataclass\nclass Item:\n    price: float\n    name: str = 'x'\n\nclass Row(TypedDict):\n    a: int\n\nclass Stack:\n    def __init__(self, items: list[int] | None = None, *, size):\n        self.items = items\n\nIds = list[int]\n";
        let python = |annotation| values(Language::Python, text, annotation);
        assert_eq!(python("Color")[..3], ["Color.RED", "Color.BLUE", "Color.RED"]);
        assert_eq!(python("Item")[1..3], ["Item(1.0)", "Item(0.5, \"Hello, World!\")"]);
        assert_eq!(python("Row")[1], "{\"a\": 1}");
        assert!(python("Stack")[2].starts_with("Stack(["), "{:?}", python("Stack"));
        assert_eq!(python("Ids")[1], "[2]");
        assert_eq!(values(Language::Python, "class Text:\n    pass\n", "Text")[0], "Text()");
        let text = "export interface Item { price: number; tag?: string }\ntype Id = string;\nenum Size { Small, Large = 3 }\ntype Kind = 'a' | 'b';\nclass Cart {\n  constructor(private items: Item[] = []) {}\n}\n";
        let typescript = |annotation| values(Language::TypeScript, text, annotation);
        assert_eq!(typescript("Item")[1], "{\"price\": 1}");
        assert_eq!(typescript("Size")[..2], ["Size.Small", "Size.Large"]);
        assert_eq!(typescript("Kind")[1], "'b'");
        assert_eq!(typescript("Id")[1], "\"a\"");
        assert_eq!(typescript("Cart")[0], "new Cart()");
        assert!(typescript("Cart")[2].starts_with("new Cart([{\"price\""), "{:?}", typescript("Cart"));
        assert_eq!(typescript("{ a: number, b: string }")[1], "{\"a\": 1, \"b\": \"hello world\"}");
    }

    #[test]
    fn parameters_say_how_they_are_given() {
        let declared = Declarations::of_file(Language::Python, "");
        let types = Types { language: Language::Python, declared: &declared };
        let ways = |types: Types, text: &str| {
            let all = types.parameters(text, 0);
            all.into_iter().map(|one| (one.name, one.way, one.has_default)).collect::<Vec<_>>()
        };
        assert_eq!(
            ways(types, "(self, a: int, *xs: str, b=1, **more)"),
            [
                ("a".to_owned(), Way::Placed, false),
                ("xs".to_owned(), Way::Rest, false),
                ("b".to_owned(), Way::Named, true)
            ]
        );
        assert_eq!(ways(types, "(a, *, b)")[1], ("b".to_owned(), Way::Named, false));
        let types = Types { language: Language::TypeScript, declared: &declared };
        assert_eq!(
            ways(types, "(key: (x: T) => K, m: Map<string, number>, ...xs: number[])"),
            [
                ("key".to_owned(), Way::Placed, false),
                ("m".to_owned(), Way::Placed, false),
                ("xs".to_owned(), Way::Rest, false)
            ]
        );
        let bound = types.bound("f<T extends object, K extends keyof T>", "(of: T, keys: K[])");
        assert_eq!(bound, format!("(of: {OBJECT}, keys: (keyof {OBJECT})[])"));
        let keys = ["\"a\"", "\"b\"", "\"c\""].map(str::to_owned).to_vec();
        assert_eq!(types.parameters(&bound, 0)[1].kind, Kind::List(Box::new(Kind::OneOf(keys))));
        assert_eq!(types.bound("f<T>", "(of: T)"), "(of: T)");
        let taken = types.parameters("({ price, tags = [] })", 0);
        assert!(matches!(&taken[0].kind, Kind::Fields(fields) if fields.len() == 2 && fields[1].has_default));
    }
}
