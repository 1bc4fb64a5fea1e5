//! Kinds of parameters that candidates show by what they do with a name: pairs that a loop takes apart, texts
//! that patterns are matched with, folders that are walked through, functions that are called, attributes
//! that are read.

use std::collections::HashSet;

use super::elements::Elements;
use super::kind::{Kind, Parameter, Way};
use super::links;
use super::value::Value;
use crate::code::{self, Word, words};
use crate::language::Language;

/// A sort of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Text,
    File,
    Folder,
}

/// Functions that say what they are given: their module or object, if they are known by it (`*`: any other),
/// their names, and the place.
const FUNCTIONS: &[(&str, &[&str], usize, Given)] = &[
    ("re", &["sub", "subn"], 2, Given::Text),
    ("re", &["findall", "finditer", "match", "search", "fullmatch", "split"], 1, Given::Text),
    ("*", &["sub", "subn"], 1, Given::Text),
    ("*", &["findall", "finditer", "fullmatch", "test", "exec"], 0, Given::Text),
    ("json", &["loads"], 0, Given::Text),
    ("JSON", &["parse"], 0, Given::Text),
    ("*", &["fromisoformat", "strptime"], 0, Given::Text),
    ("html", &["escape", "unescape"], 0, Given::Text),
    ("shlex", &["split"], 0, Given::Text),
    ("", &["urlparse", "urlsplit", "parse_qs", "parse_qsl", "StringIO", "URLSearchParams"], 0, Given::Text),
    ("os", &["walk", "listdir", "scandir"], 0, Given::Folder),
    ("", &["readdirSync", "readdir"], 0, Given::Folder),
    ("", &["open", "readFileSync", "readFile", "createReadStream"], 0, Given::File),
];
/// Methods of paths of folders, and of other paths.
const OF_FOLDERS: &[&str] = &["rglob", "iterdir", "glob"];
const OF_PATHS: &[&str] = &["read_text", "read_bytes", "write_text", "is_file", "is_dir", "with_suffix", "relative_to"];
/// Words by which a parameter names a field of rows.
const KEYS: &[&str] =
    &["key", "keys", "field", "column", "col", "by", "attr", "attribute", "prop", "property", "group"];
/// Fields of rows whose names a parameter has, and of files of rows.
pub const COLUMNS: [&str; 2] = ["name", "age"];

/// Uses of names in bodies.
pub struct Uses {
    pub language: Language,
    bodies: Vec<Vec<Word>>,
    /// Fields that are read by their names of what is no parameter.
    columns: Vec<String>,
}

impl Uses {
    /// The bodies that candidates write, and the fields that they read from what is no parameter.
    pub fn new(language: Language, bodies: &[&str], columns: Vec<String>) -> Self {
        let of = |body: &&str| words(language, body).into_iter().filter(|word| *word != Word::End).collect();
        let bodies = bodies.iter().filter(|body| !body.trim().is_empty()).map(of).collect();
        Self { language, bodies, columns }
    }

    /// Returns true if at least half of the bodies do so.
    pub fn do_most(&self, is_done: impl Fn(&[Word]) -> bool) -> bool {
        let count = self.bodies.iter().filter(|body| is_done(body)).count();
        count > 0 && 2 * count >= self.bodies.len()
    }

    fn give(&self, name: &str, given: Given) -> bool {
        self.do_most(|body| gives(body, name, given))
    }

    /// Returns true for a parameter that names a folder.
    pub fn is_folder(&self, name: &str) -> bool {
        self.give(name, Given::Folder) || self.do_most(|body| calls_method(body, name, OF_FOLDERS))
    }

    /// Returns true if most bodies read something of what has this name.
    pub fn read_of(&self, name: &str) -> bool {
        self.do_most(|body| reads_of(body, name))
    }

    /// Returns true if a body has this text.
    pub fn speak_of(&self, text: &str) -> bool {
        self.bodies.iter().flatten().any(|word| matches!(word, Word::Text(own) if own == text))
    }

    /// The names of columns that a file of rows needs to have.
    pub fn columns(&self) -> &[String] {
        if self.read_rows() { &self.columns } else { &[] }
    }

    fn read_rows(&self) -> bool {
        self.do_most(|body| body.iter().any(|word| matches!(word.name(), Some("csv" | "DictReader"))))
    }

    /// The kind of a parameter, if most bodies show it. `guess` is the kind that its name says; `object`
    /// makes objects with the attributes that are read.
    pub fn kind(&self, name: &str, guess: &Kind, object: &dyn Fn(&[String]) -> Kind) -> Option<Kind> {
        let is_of_path = |body: &[Word]| calls_method(body, name, OF_FOLDERS) || calls_method(body, name, OF_PATHS);
        let is_open = matches!(guess, Kind::Int | Kind::Unknown);
        let is_open_list = matches!(guess, Kind::List(of) if matches!(**of, Kind::Int | Kind::Pair(_) | Kind::Fields(_) | Kind::List(_)));
        match () {
            () if self.do_most(|body| is_called(body, name)) => Some(Kind::Function),
            () if self.language == Language::Python && self.do_most(is_of_path) => {
                let path = "__import__(\"pathlib\").Path".to_owned();
                Some(Kind::From(path, Box::new(Kind::Path(Vec::new()))))
            }
            () if self.is_folder(name) || self.give(name, Given::File) => Some(Kind::Path(Vec::new())),
            () if is_open && (self.give(name, Given::Text) || self.do_most(|body| is_searched(body, name))) => {
                Some(Kind::Text)
            }
            () if self.is_key(name) => Some(self.keys()),
            () if is_open || is_open_list => self.of_elements(name, guess, object).or_else(|| {
                let attributes = self.attributes(|body| objects(body, name));
                Some(Kind::Maybe(Box::new(object(&attributes)))).filter(|_| is_open && !attributes.is_empty())
            }),
            () => None,
        }
    }

    /// A list, by what is done with its elements.
    fn of_elements(&self, name: &str, guess: &Kind, object: &dyn Fn(&[String]) -> Kind) -> Option<Kind> {
        let all: Vec<Elements> = self.bodies.iter().map(|body| Elements::of(self.language, body, name)).collect();
        let most = |is_it: &dyn Fn(&Elements) -> bool| {
            let count = all.iter().filter(|one| is_it(one)).count();
            count > 0 && 2 * count >= all.len()
        };
        let list = |kind| Some(Kind::List(Box::new(kind)));
        if most(&|one| one.are_called) {
            return list(Kind::Function);
        }
        // Rows of numbers have parts anyway.
        if most(&|one| one.size() > 1) && !matches!(guess, Kind::List(of) if matches!(**of, Kind::List(_))) {
            // Bodies that set an element need lists.
            let is_list = self.language == Language::Python && all.iter().any(|one| one.are_set);
            let largest = all.iter().max_by_key(|one| (one.names.len(), one.size()))?;
            return list(largest.kind(is_list));
        }
        if most(&|one| one.keys.iter().any(|key| self.is_key(key))) {
            return list(self.row());
        }
        let attributes = self.attributes(|body| Elements::of(self.language, body, name).variables);
        let mut attributes = if self.language == Language::Python { attributes } else { return None };
        for attribute in all.iter().flat_map(|one| &one.attributes) {
            if !attributes.contains(attribute) {
                attributes.push(attribute.clone());
            }
        }
        if attributes.is_empty() { None } else { list(object(&attributes)) }
    }

    /// Objects with the fields that a parameter names.
    pub fn row(&self) -> Kind {
        let field = |name: &String| Parameter {
            name: name.clone(),
            kind: Kind::of_name(name),
            way: Way::Named,
            ..Parameter::default()
        };
        Kind::Fields(self.key_names().iter().map(field).collect())
    }

    pub fn key_names(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let all = self.columns.iter().cloned().chain(COLUMNS.map(str::to_owned));
        all.filter(|name| seen.insert(name.clone())).take(2 * COLUMNS.len()).collect()
    }

    /// The names of fields, and of one that is not there.
    fn keys(&self) -> Kind {
        let names = self.key_names();
        let all = names.iter().map(String::as_str).chain(["none"]).map(|name| format!("{name:?}")).collect();
        Kind::OneOf(all).told(names.into_iter().map(Value::Text).collect())
    }

    /// Returns true for a parameter that names a field of rows: `row[key]`.
    fn is_key(&self, name: &str) -> bool {
        is_key_name(name) && self.do_most(|body| is_index(body, name))
    }

    /// The attributes that most bodies read of these names of theirs. None are methods.
    fn attributes(&self, names: impl Fn(&[Word]) -> Vec<String>) -> Vec<String> {
        let mut all: Vec<(String, usize)> = Vec::new();
        for body in &self.bodies {
            let names = names(body);
            let read: HashSet<String> = attributes(body).filter(|(of, _)| names.contains(of)).map(|(_, a)| a).collect();
            for attribute in read {
                match all.iter_mut().find(|(own, _)| *own == attribute) {
                    Some((_, count)) => *count += 1,
                    None => all.push((attribute, 1)),
                }
            }
        }
        all.retain(|(_, count)| 3 * count >= self.bodies.len());
        let mut all: Vec<String> = all.into_iter().map(|(attribute, _)| attribute).collect();
        all.sort();
        all
    }
}

/// Returns true for names of parameters that name fields: `key`, `sort_fields`.
pub fn is_key_name(name: &str) -> bool {
    let is_one = |word: &str| KEYS.contains(&word) || word.strip_suffix('s').is_some_and(|one| KEYS.contains(&one));
    code::words_of_names(name).iter().any(|word| is_one(word))
}

/// Returns true if something is read of what has this name: `client.get(`, `req?.user`.
fn reads_of(all: &[Word], name: &str) -> bool {
    places(all, name).any(|at| is(all, at + 1, '.') || is(all, at + 1, '?') && is(all, at + 2, '.'))
}

fn is(all: &[Word], at: usize, mark: char) -> bool {
    all.get(at).is_some_and(|word| word.is(mark))
}

fn name_at(all: &[Word], at: usize) -> Option<&str> {
    all.get(at).and_then(Word::name)
}

/// The places of a name that is no attribute of another one. In `[...name]` it is none.
pub fn places<'a>(all: &'a [Word], name: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_owned = |at: usize| {
        let is_owner = name_at(all, at).is_some() || [')', ']', '}', '?'].iter().any(|mark| is(all, at, *mark));
        is_owner || matches!(all[at], Word::Text(_))
    };
    let is_attribute = move |at: usize| at > 1 && is(all, at - 1, '.') && is_owned(at - 2);
    (0..all.len()).filter(move |&at| name_at(all, at) == Some(name) && !is_attribute(at))
}

/// The place behind the bracket that closes the one at a place.
pub fn closed(all: &[Word], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, word) in all.iter().enumerate().skip(open) {
        match word {
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark(')' | ']' | '}') if depth <= 1 => return at + 1,
            Word::Mark(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
    }
    all.len()
}

/// The arguments of a call whose bracket is at a place.
fn arguments(all: &[Word], open: usize) -> Vec<&[Word]> {
    let end = closed(all, open).saturating_sub(1);
    let (mut found, mut begin, mut at) = (Vec::new(), open + 1, open + 1);
    while at < end {
        match all[at] {
            Word::Mark('(' | '[' | '{') => at = closed(all, at),
            Word::Mark(',') => {
                found.push(&all[begin..at]);
                at += 1;
                begin = at;
            }
            _ => at += 1,
        }
    }
    found.push(&all[begin..end.max(begin)]);
    found
}

/// Returns true if a function that says so is given what has this name.
fn gives(all: &[Word], name: &str, given: Given) -> bool {
    let is_given = |module: &str, functions: &[&str], place: usize, at: usize| {
        let of = if at > 1 && is(all, at - 1, '.') { name_at(all, at - 2) } else { None };
        let is_of = match module {
            "" => true,
            "*" => at > 0 && is(all, at - 1, '.') && of != Some("re") && of != Some(name),
            module => of == Some(module),
        };
        let is_call = is(all, at + 1, '(') && name_at(all, at).is_some_and(|function| functions.contains(&function));
        is_of && is_call && matches!(arguments(all, at + 1).get(place), Some([one]) if one.name() == Some(name))
    };
    let mut known = FUNCTIONS.iter().filter(|(.., own)| *own == given);
    known.any(|(module, functions, place, _)| (0..all.len()).any(|at| is_given(module, functions, *place, at)))
}

/// `name.method(`, or `Path(name).method(`.
fn calls_method(all: &[Word], name: &str, methods: &[&str]) -> bool {
    places(all, name).any(|at| {
        let at = if is(all, at + 1, ')') { at + 1 } else { at };
        is(all, at + 1, '.') && name_at(all, at + 2).is_some_and(|of| methods.contains(&of)) && is(all, at + 3, '(')
    })
}

/// `"..." in name`, where the text is no name of a field.
fn is_searched(all: &[Word], name: &str) -> bool {
    let is_text = |word: &Word| matches!(word, Word::Text(text) if !text.is_empty() && !text.chars().all(|c| c.is_alphanumeric() || c == '_'));
    places(all, name).any(|at| {
        let before = if at > 2 && name_at(all, at - 2) == Some("not") { 3 } else { 2 };
        at >= before && name_at(all, at - 1) == Some("in") && is_text(&all[at - before]) && !is(all, at + 1, '[')
    })
}

/// `name(x)`: it is called with something.
fn is_called(all: &[Word], name: &str) -> bool {
    places(all, name).any(|at| {
        let is_declared = at > 0 && matches!(name_at(all, at - 1), Some("def" | "function" | "new" | "class"));
        is(all, at + 1, '(') && !is(all, at + 2, ')') && !is_declared
    })
}

/// `row[name]`, `row.get(name)`, `header.index(name)`.
fn is_index(all: &[Word], name: &str) -> bool {
    places(all, name).any(|at| {
        let is_inside = |open, close| at > 1 && is(all, at - 1, open) && is(all, at + 1, close);
        let is_read = at > 1 && matches!(name_at(all, at - 2), Some("get" | "index" | "indexOf" | "getattr"));
        let is_item = is_inside('[', ']') && (name_at(all, at - 2).is_some() || is(all, at - 2, ']'));
        is_item || is_read && at > 0 && is(all, at - 1, '(') || name_at(all, at + 1) == Some("in")
    })
}

/// The attributes that are read of names, but for methods.
fn attributes(all: &[Word]) -> impl Iterator<Item = (String, String)> + '_ {
    let of = |at: usize| {
        let is_optional = is(all, at + 1, '?') && is(all, at + 2, '.');
        let dot = if is_optional { at + 2 } else { at + 1 };
        let is_read = is(all, dot, '.') && !is(all, dot + 2, '(') && (at == 0 || !is(all, at - 1, '.'));
        let (of, attribute) = (name_at(all, at)?, name_at(all, dot + 1)?);
        let is_field = is_read && attribute.starts_with(|c: char| c.is_alphabetic()) && attribute != "length";
        is_field.then(|| (of.to_owned(), attribute.to_owned()))
    };
    (0..all.len()).filter_map(of)
}

/// The names of what has this name, and of objects in it: those whose links are read, if it is given to
/// something or has another name there.
fn objects(all: &[Word], name: &str) -> Vec<String> {
    let is_link = |attribute: &str| links::held(attribute, Kind::default).is_some();
    let is_handed = |at: usize| {
        // An argument behind another one may be looked for in it.
        let is_given = at > 0 && (is(all, at - 1, '(') || is(all, at - 1, '['));
        let is_ended = [',', ')', ']'].into_iter().any(|mark| is(all, at + 1, mark));
        let is_set = at > 1 && is(all, at - 1, '=') && name_at(all, at - 2).is_some();
        is_given && is_ended || is_set
    };
    let linked = attributes(all).filter(|(_, attribute)| is_link(attribute)).map(|(of, _)| of);
    let is_compared = |at: usize| is(all, at + 1, '=') && is(all, at + 2, '=') || at > 0 && is(all, at - 1, '=');
    let is_value = places(all, name).any(|at| is_compared(at) && !is_handed(at));
    let others = linked.filter(|_| !is_value && places(all, name).any(is_handed));
    others.chain([name.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(language: Language, bodies: &[&str], name: &str, guess: &Kind) -> Option<Kind> {
        let object = |fields: &[String]| Kind::OneOf(fields.to_vec());
        Uses::new(language, bodies, Vec::new()).kind(name, guess, &object)
    }

    fn python(body: &str, name: &str) -> Option<Kind> {
        kind(Language::Python, &[body], name, &Kind::of_name(name))
    }

    fn list(kind: Kind) -> Kind {
        Kind::List(Box::new(kind))
    }

    #[test]
    fn functions_say_what_they_are_given() {
        let body = "    return re.sub(r'a(b)', lambda m: f(m[1], 2), t)\n";
        assert_eq!(kind(Language::Python, &[body], "t", &Kind::Int), Some(Kind::Text));
        assert_eq!(kind(Language::Python, &[body], "m", &Kind::Int), None);
        let searched = |body| kind(Language::Python, &[body], "t", &Kind::Int);
        assert_eq!(searched("    return WORD.findall(t)\n"), Some(Kind::Text));
        assert_eq!(searched("    return '@' in t\n"), Some(Kind::Text));
        assert_eq!(searched("    return '@' not in t\n"), Some(Kind::Text));
        assert_eq!(searched("    return 'name' in t\n"), None, "it may be a dictionary");
        let path = Some(Kind::Path(Vec::new()));
        for body in ["    for d, _, all in os.walk(a):\n", "    with open(a) as f:\n", "    Path(a).rglob('*')\n"] {
            let found = kind(Language::Python, &[body], "a", &Kind::Int);
            let is_object = matches!(&found, Some(Kind::From(_, path)) if **path == Kind::Path(Vec::new()));
            assert!(found == path || is_object, "{body}: {found:?}");
        }
        let uses = Uses::new(Language::Python, &["    os.walk(a)\n    open(b)\n    c.rglob('*')\n"], Vec::new());
        assert_eq!(["a", "b", "c"].map(|name| uses.is_folder(name)), [true, false, true]);
        assert_eq!(python("    return key(x)\n", "key"), Some(Kind::Function));
        let text = kind(Language::JavaScript, &["  return /a+/.test(t);\n"], "t", &Kind::Int);
        assert_eq!(text, Some(Kind::Text));
    }

    #[test]
    fn most_bodies_decide() {
        let bodies = ["    return re.findall('a', t)\n", "    return t + 1\n", "    return t * 2\n"];
        assert_eq!(kind(Language::Python, &bodies, "t", &Kind::Int), None);
        assert_eq!(kind(Language::Python, &bodies[..2], "t", &Kind::Int), Some(Kind::Text));
    }

    #[test]
    fn attributes_that_are_read_make_objects() {
        let fields = |names: &[&str]| {
            let names = names.iter().map(|&name| name.to_owned()).collect();
            Some(Kind::Maybe(Box::new(Kind::OneOf(names))))
        };
        assert_eq!(python("    return f(root.left) + root.value\n", "root"), fields(&["left", "value"]));
        let walk = "    def go(node):\n        go(node.left)\n        out.append(node.value)\n    go(root)\n";
        assert_eq!(python(walk, "root"), fields(&["left", "value"]));
        let walk = "    node = head\n    while node.next:\n        node = node.next\n";
        assert_eq!(python(walk, "head"), fields(&["next"]));
        assert_eq!(python("    return math.pi * root\n", "root"), None);
        let find =
            "    if node.value == target:\n        return node\n    return [find(a, target) for a in node.children]\n";
        assert_eq!((python(find, "target"), python(find, "node")), (None, fields(&["children", "value"])));
        let find = "    return node.value == target or find(target, node.left)\n";
        assert_eq!(python(find, "target"), None, "it is compared");
        let all = python("    return sum(order.total for order in orders)\n", "orders");
        assert_eq!(all, Some(list(Kind::OneOf(vec!["total".to_owned()]))));
        let all = python("    return max(people, key=lambda p: p.age).name if people else people[0].id\n", "people");
        assert_eq!(all, Some(list(Kind::OneOf(["age", "name", "id"].map(str::to_owned).to_vec()))));
    }

    #[test]
    fn parameters_that_name_fields_are_names_of_fields() {
        let group = "    for row in data:\n        out[row[key]].append(row)\n";
        let all = python(group, "data").unwrap().typical(1).written(Language::Python);
        assert!(all.starts_with("[{\"name\": \""), "{all}");
        assert_eq!(python(&group.replace("data", "rows"), "rows"), python(group, "data"));
        let told = python(group, "key").unwrap();
        assert_eq!([0, 2].map(|at| told.typical(at)), COLUMNS.map(|name| Value::Text(name.to_owned())));
        let read = "    for row in csv.DictReader(f):\n        total += row['price'] * row[column]\n";
        let uses = Uses::new(Language::Python, &[read], vec!["price".to_owned()]);
        assert_eq!(uses.columns(), ["price"]);
        let told = uses.kind("column", &Kind::Int, &|_| Kind::Unknown).unwrap();
        assert_eq!(told.typical(0), Value::Text("price".to_owned()));
        assert_eq!(python("    return xs[n]\n", "n"), None);
    }
}
