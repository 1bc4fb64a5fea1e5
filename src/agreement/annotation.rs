//! Kinds by annotations: types of the language and its library, and those that the file declares.

use super::awaited;
use super::defaults;
use super::kind::{Kind, PROMISE, Parameter, Way};
use super::library;
use super::links;
use super::stubs;
use super::value::{Value, literal, parts};
use crate::code::{Declarations, Declared};
use crate::language::Language;

/// Types inside types that are followed.
const DEEPEST: usize = 4;
/// Types of the file inside one another that are followed.
const MOST_WITHIN: usize = links::LEVELS + 1;

/// Dates with times, where code shows that it takes some.
pub fn dates(language: Language) -> Kind {
    let declared = Declarations::of_file(language, "");
    let name = if language == Language::Python { "__import__(\"datetime\").datetime" } else { "Date" };
    Types::new(language, &declared).kind(name)
}

/// Types as a file names them.
#[derive(Clone, Copy)]
pub struct Types<'a> {
    pub language: Language,
    /// Types of the file.
    declared: &'a Declarations,
    within: Option<&'a Within<'a>>,
}

/// Types of the file around a type.
struct Within<'a> {
    name: &'a str,
    around: Option<&'a Within<'a>>,
}

impl<'a> Types<'a> {
    pub fn new(language: Language, declared: &'a Declarations) -> Self {
        Self { language, declared, within: None }
    }

    /// The kind that an annotation names.
    pub fn kind(self, annotation: &str) -> Kind {
        self.inside(annotation, 0)
    }

    /// The names of the file's classes.
    pub fn classes(self) -> Vec<&'a str> {
        self.declared.classes()
    }

    /// New objects of a class of the file.
    pub fn object(self, class: &str) -> Option<Kind> {
        match self.declared.of(class)? {
            Declared::Class(head) => Some(self.class(class, &head)),
            _ => None,
        }
    }

    fn class(self, name: &str, head: &str) -> Kind {
        self.held(name, |types| {
            let one = |one: Parameter| {
                let is_open = match &one.kind {
                    Kind::Unknown => true,
                    Kind::List(kind) => **kind == Kind::Unknown,
                    Kind::Tuple(all) => all.is_empty(),
                    _ => false,
                };
                let link = if is_open { links::held(&one.name, || types.class(name, head)) } else { None };
                let by_name = || stubs::named(&one.name).unwrap_or_else(|| Kind::of_name(&one.name));
                let of_name = |kind| if kind == Kind::Unknown { by_name() } else { kind };
                Parameter { kind: link.unwrap_or_else(|| of_name(one.kind)), ..one }
            };
            Kind::New(types.maker(name), types.parameters(head, 1).into_iter().map(one).collect())
        })
    }

    /// A type of the file with others of its name inside, down to the last level.
    fn held(self, name: &str, kind: impl FnOnce(Types) -> Kind) -> Kind {
        let (mut all, mut same, mut around) = (0, 0, self.within);
        while let Some(one) = around {
            all += 1;
            same += usize::from(one.name == name);
            around = one.around;
        }
        if all >= MOST_WITHIN {
            return Kind::Nothing;
        }
        let within = Within { name, around: self.within };
        let kind = kind(Types { within: Some(&within), ..self });
        if same > 0 { Kind::Link(Box::new(kind)) } else { kind }
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
        if is_function(text) && ["void", "Promise<void>"].contains(&result_of(text)) {
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
            "callable" if each.get(1) == Some(&"None") => Kind::callback(),
            "callable" if each.get(1) == Some(&"Awaitable[None]") => awaited::function(Kind::callback()),
            "callable" if let Some(kind) = awaited::that_gives(*at(1)) => kind,
            "callable" if each.first() == Some(&"[]") => Kind::Gives(at(1)),
            "callable" | "function" => Kind::Function,
            "promise" if !self.is_python() => Kind::From(PROMISE.to_owned(), at(0)),
            name if self.is_python()
                && let Some(kind) = awaited::of_type(name, at) =>
            {
                kind
            }
            "optional" => Kind::Maybe(at(0)),
            "union" => self.any_of(&each, depth),
            "annotated" | "readonly" | "partial" | "required" | "notrequired" | "nonnullable" | "final" => *at(0),
            "literal" => Kind::OneOf(each.iter().map(|&text| text.to_owned()).collect()),
            _ => Kind::Unknown,
        };
        if known != Kind::Unknown {
            return known;
        }
        library::kind(self.language, spelled, last).unwrap_or_default()
    }

    fn of_file(self, name: &str, depth: usize) -> Option<Kind> {
        Some(match self.declared.of(name)? {
            Declared::Members(all) if all.is_empty() => return None,
            Declared::Members(all) => Kind::OneOf(all),
            Declared::Fields(fields) => self.held(name, |types| Kind::Fields(types.parameters(&fields, 1))),
            Declared::Class(head) => self.class(name, &head),
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
            (Kind::Nothing, kind) | (kind, Kind::Nothing) => kind,
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
                let one = self.parameter(part, depth);
                all.extend(one.map(|one| Parameter { way: if way == Way::Named { way } else { one.way }, ..one }));
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
        let of_literal = |text| literal(text, self.language).map(|(value, _)| Kind::of(&value));
        let of_text = |text| of_literal(text).unwrap_or_else(|| defaults::kind(self.language, text));
        let of_default = default.map(of_text).unwrap_or_default();
        let kind = annotation.map(|text| self.inside(text, depth)).unwrap_or_default();
        // A clock is given, so that calls do the same each time.
        let is_given = self.is_python() && matches!(of_default, Kind::Gives(_));
        let has_default = !is_given && (default.is_some() || is_optional);
        if name.starts_with('{') && !self.is_python() {
            let kind = if kind == Kind::Unknown { self.destructured(name, depth) } else { kind };
            return Some(Parameter { name: String::new(), kind, has_default, way: Way::Placed });
        }
        if name.starts_with('[') && !self.is_python() {
            let kind = if kind == Kind::Unknown { Kind::List(Box::new(Kind::Int)) } else { kind };
            return Some(Parameter { name: String::new(), kind, has_default, way: Way::Placed });
        }
        let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        let kind = kind.or(of_default);
        let way = if is_given { Way::Named } else { Way::Placed };
        is_plain.then(|| Parameter { name: name.to_owned(), kind, has_default, way })
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
        let kind = Types::new(language, &declared).kind(annotation);
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
            (
                "Callable[[], Awaitable[float]]",
                Kind::From("an_async".to_owned(), Box::new(Kind::Gives(Box::new(Kind::Float)))),
            ),
            (
                "Callable[[int], Awaitable[dict[str, int]]]",
                Kind::From(
                    "an_async".to_owned(),
                    Box::new(Kind::Gives(Box::new(Kind::Dict(Box::new(Kind::Text), Box::new(Kind::Int))))),
                ),
            ),
            ("Callable[[str], Awaitable[None]]", Kind::From("an_async".to_owned(), Box::new(Kind::callback()))),
            ("Coroutine[Any, Any, str]", Kind::From("a_coroutine".to_owned(), Box::new(Kind::Text))),
            ("AsyncIterator[str]", Kind::From("an_async_iterator".to_owned(), Box::new(list(Kind::Text)))),
            ("Callable[[], Any] | None", Kind::Maybe(Box::new(Kind::Gives(Box::default())))),
            ("\"int\"", Kind::Int),
            ("Thing", Kind::Unknown),
        ];
        for (text, kind) in cases {
            assert_eq!(Types::new(language, &declared).kind(text), kind, "{text}");
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
            assert_eq!(Types::new(Language::TypeScript, &declared).kind(text), kind, "{text}");
        }
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
    fn objects_hold_others_of_their_class_down_to_the_last_level() {
        let first = |language, text: &str, annotation: &str| {
            let declared = Declarations::of_file(language, text);
            let kind = Types::new(language, &declared).kind(annotation);
            (0..30).map(|number| kind.typical(number).written(language)).collect::<Vec<_>>()
        };
        for (text, annotation, part) in [
            (
                "@dataclass\nclass Node:\n    name: str\n    size: int = 0\n    children: list[Node] = field(default_factory=list)\n",
                "Node",
                ", [Node(\"",
            ),
            ("class A:\n    def __init__(self, v: int, next: Optional[\"A\"] = None):\n        pass\n", "A", ", A("),
            ("class A:\n    def __init__(self, v, children=()):\n        pass\n", "list[A]", ", [A("),
            (
                "class A:\n    def __init__(self, b: B):\n        pass\n\nclass B:\n    def __init__(self, a: A | None):\n        pass\n",
                "A",
                "A(B(A(",
            ),
        ] {
            let all = first(Language::Python, text, annotation);
            assert!(all.iter().any(|value| value.contains(part)), "{part}: {all:?}");
            assert!(all.iter().all(|value| value.len() < 1000), "{all:?}");
        }
        let text = "interface Tree { value: number; left?: Tree | null; more: Tree[] }\n";
        let all = first(Language::TypeScript, text, "Tree");
        assert!(all.iter().any(|value| value.contains("\"left\": {\"value\": ")), "{all:?}");
        assert!(all.iter().any(|value| value.contains("\"more\": [{\"value\": ")), "{all:?}");
    }

    #[test]
    fn a_clock_is_always_given_by_its_name() {
        let declared = Declarations::of_file(Language::Python, "");
        let all = Types::new(Language::Python, &declared).parameters("(n=1, clock=time.monotonic, sep=os.sep)", 0);
        let given: Vec<_> = all.iter().map(|one| (one.has_default, one.way, one.kind.clone())).collect();
        let clock = Kind::Gives(Box::new(Kind::Float));
        let others = [(true, Way::Placed, Kind::Int), (false, Way::Named, clock), (true, Way::Placed, Kind::Text)];
        assert_eq!(given, others);
    }

    #[test]
    fn parameters_say_how_they_are_given() {
        let declared = Declarations::of_file(Language::Python, "");
        let types = Types::new(Language::Python, &declared);
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
        let types = Types::new(Language::TypeScript, &declared);
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
