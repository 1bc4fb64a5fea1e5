//! Kinds that the names of parameters say.

use super::kind::{Kind, Parameter, Way};
use super::pairs::Pair;
use super::value::Value;
use crate::code;

/// Last words of names of texts.
const TEXTS: &[&str] = &[
    "template", "query", "sql", "markdown", "md", "html", "xml", "json", "csv", "yaml", "src", "content", "contents",
    "raw", "expr", "expression", "ext", "extension", "color", "colour", "hex", "ip", "hostname", "domain", "phone",
    "locale", "lang", "language", "log", "timestamp", "token", "slug", "username", "currency", "body", "css", "host",
    "tag", "paragraph", "phrase", "snippet", "uri", "link", "selector", "iban", "isbn", "cron", "guid", "uuid",
];
const TEXT_LISTS: &[&str] = &[
    "tags", "keys", "urls", "emails", "labels", "paths", "files", "argv", "fields", "columns", "titles", "categories",
    "extensions", "phrases", "prefixes", "suffixes", "patterns", "domains", "versions", "logs",
];
/// Last words of names of pairs of numbers, and of lists of them.
const PAIRS: &[&str] = &["pair", "point", "interval", "coord", "coords", "coordinate", "coordinates"];
const PAIR_LISTS: &[&str] = &[
    "pairs", "points", "intervals", "edges", "ranges", "spans", "slots", "segments", "meetings", "bookings", "periods",
];
/// Last words of names of objects.
const OBJECTS: &[&str] = &[
    "options", "opts", "headers", "config", "settings", "params", "metadata", "payload", "user", "record", "person",
    "customer", "context",
];
/// Last words of names of lists of objects, and the fields that these have.
const ROWS: &[(&[&str], &[&str])] = &[
    (&["users", "people", "persons", "customers", "employees", "members"], &["name", "age", "email"]),
    (&["orders", "invoices", "transactions", "payments", "sales", "products"], &["id", "name", "amount"]),
    (&["records", "entries", "events"], &["id", "name", "value"]),
];

/// Words behind `on_` in names of functions that are told of something.
const EVENTS: &[&str] = &[
    "progress", "change", "error", "success", "failure", "done", "complete", "event", "message", "data", "open",
    "close", "start", "stop", "finish", "end", "retry", "update", "click", "submit", "select", "load", "line", "item",
    "result",
];

/// Graphs of numbered nodes, by the nodes behind each.
const GRAPHS: &[&[&[i64]]] = &[
    &[&[2, 3], &[3], &[4], &[]],
    &[&[2], &[3], &[1]],
    &[&[2], &[1], &[4], &[3]],
    &[&[1], &[]],
    &[&[2, 3], &[4], &[4, 5], &[5], &[], &[1]],
    &[],
];

/// Dictionaries with the nodes behind each node.
fn graph() -> Kind {
    let ints = |all: &[i64]| Value::List(all.iter().copied().map(Value::Int).collect());
    let one =
        |all: &&[&[i64]]| Value::Dict((1..).map(Value::Int).zip(all.iter().map(|&behind| ints(behind))).collect());
    let kind = Kind::Dict(Box::new(Kind::Int), Box::new(Kind::List(Box::new(Kind::Int))));
    kind.told(GRAPHS.iter().map(one).collect())
}

/// Objects in a list that is named so.
fn rows(name: &str) -> Option<Kind> {
    let (_, fields) = ROWS.iter().find(|(names, _)| names.contains(&name))?;
    let one = |field: &&str| Parameter {
        name: (*field).to_owned(),
        kind: Kind::of_name(field),
        way: Way::Named,
        ..Parameter::default()
    };
    Some(Kind::Fields(fields.iter().map(one).collect()))
}

impl Kind {
    /// The kind that parameters of this name usually have.
    pub fn of_name(name: &str) -> Self {
        let is_question = |head: &str| {
            let rest = name.strip_prefix(head);
            rest.is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_uppercase()))
        };
        if is_question("is") || is_question("has") {
            return Self::Bool;
        }
        let words = code::words_of_names(name.trim_matches(|c: char| c == '_' || c.is_numeric()));
        // A date or a quantity may be called so, too: `on_date`, `on_hand`.
        let is_event = words.get(1).is_some_and(|word| EVENTS.contains(&word.as_str()));
        let is_on = is_question("on") && (is_event || !name.contains('_'));
        let last = words.last().map_or("", String::as_str);
        let is_last = |all: &[&str]| all.contains(&last);
        let pair = Self::Pair(Pair { is_list: false, is_rising: false });
        let name = name.trim_matches(|c: char| c == '_' || c.is_numeric()).to_lowercase();
        let has = |words: &[&str]| words.contains(&name.as_str());
        let ends = |words: &[&str]| words.iter().any(|word| name.ends_with(word));
        if is_on || ends(&["handler", "listener"]) {
            return Self::callback();
        }
        if has(&["exceptions", "exc_types"]) {
            return Self::OneOf(["Exception", "(ValueError, ZeroDivisionError)", "KeyError"].map(str::to_owned).into());
        }
        let list = |kind| Self::List(Box::new(kind));
        let is_function = ["func", "function", "predicate", "pred", "callback", "mapper", "iteratee", "comparator"];
        if ends(&is_function) || has(&["fn", "cb", "key_func", "keyfunc"]) {
            Self::Function
        } else if ends(&["matrix", "grid", "rows", "board"]) {
            list(list(Self::Int))
        } else if ends(&["words", "strings", "names", "lines", "texts", "sentences", "tokens"])
            || has(&["strs"])
            || is_last(TEXT_LISTS)
        {
            list(Self::Text)
        } else if ends(&["funcs", "functions", "callbacks", "predicates"]) || has(&["fns"]) {
            list(Self::Function)
        } else if has(&["graph", "adj", "adjacency", "adjacency_list"]) {
            graph()
        } else if is_last(PAIRS) {
            pair
        } else if is_last(PAIR_LISTS) {
            list(pair)
        } else if is_last(OBJECTS) {
            Self::Dict(Box::new(Self::Text), Box::default())
        } else if let Some(fields) = rows(last) {
            list(fields)
        } else if ends(&[
            "text", "string", "word", "name", "sentence", "char", "message", "path", "line", "title", "mail", "url",
            "version", "label", "category", "description", "address", "city", "country", "status",
        ]) || has(&[
            "s", "t", "str", "txt", "c", "ch", "letter", "pattern", "prefix", "suffix", "sep", "key", "date", "code",
            "source_code",
        ]) || is_last(TEXTS)
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
        } else if name.len() > 3 && name.ends_with('s') && !ends(&["ss", "us", "is", "ias", "gas", "lens"]) {
            list(Self::Int)
        } else {
            Self::Int
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_kinds() {
        let list = |kind| Kind::List(Box::new(kind));
        assert_eq!(["on_progress", "onItemClick", "handler"].map(Kind::of_name), [(); 3].map(|()| Kind::callback()));
        assert!(["on_date", "on_hand"].iter().all(|name| Kind::of_name(name) != Kind::callback()));
        assert_eq!(["pred", "map_func", "fn"].map(Kind::of_name), [Kind::Function, Kind::Function, Kind::Function]);
        assert_eq!(
            ["s", "nums1", "words", "n", "is_on", "hasNames", "isle", "status", "radius"].map(Kind::of_name),
            [
                Kind::Text,
                list(Kind::Int),
                list(Kind::Text),
                Kind::Int,
                Kind::Bool,
                Kind::Bool,
                Kind::Int,
                Kind::Text,
                Kind::Int,
            ]
        );
    }

    #[test]
    fn last_words_say_texts_pairs_and_objects() {
        let list = |kind| Kind::List(Box::new(kind));
        let pair = || Kind::Pair(Pair { is_list: false, is_rising: false });
        for (names, kind) in [
            (["htmlTemplate", "sql", "hex_color"], Kind::Text),
            (["tags", "argv", "urls"], list(Kind::Text)),
            (["edges", "busy_slots", "points2"], list(pair())),
            (["pair", "startPoint", "interval"], pair()),
            (["options", "user", "headers"], Kind::Dict(Box::new(Kind::Text), Box::default())),
            (["fns", "mapFunctions", "predicates"], list(Kind::Function)),
            (["line_number", "error_code", "amount"], Kind::Int),
            (["code", "source_code", "raw"], Kind::Text),
        ] {
            for name in names {
                assert_eq!(Kind::of_name(name), kind, "{name}");
            }
        }
        let graph = Kind::of_name("graph").typical(2).written(crate::language::Language::Python);
        assert_eq!(graph, "{1: [2], 2: [3], 3: [1]}");
        let users = Kind::of_name("activeUsers").typical(1).written(crate::language::Language::Python);
        assert!(users.starts_with("[{\"name\": \"abc\", \"age\": "), "{users}");
    }
}
