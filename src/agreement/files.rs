//! Files and folders that are made for a call, for parameters that name one.

use super::kind::{Kind, Parameter};
use super::uses::Uses;
use super::value::{Argument, Value};
use crate::code;
use crate::trial::{FILE_MAKER, FOLDER_MAKER};

/// Words by which code speaks of files of a sort, the ending of their names, and what they hold.
type Sort = (&'static [&'static str], &'static str, &'static [&'static str]);

const SORTS: &[Sort] = &[
    (
        &["jsonl", "ndjson"],
        "jsonl",
        &["{\"id\": 1, \"a\": \"x\"}\n\n{\"id\": 2, \"a\": null}\n", "{\"id\": 1}\nno\n", ""],
    ),
    (
        &["csv"],
        "csv",
        &[
            "name,age\nAnn,31\nBob,\n\"C, D\",7\n", "name,age\nAnn,3\nBob,4\nAnn,5\n", "a,b\n1,2\n1,2\n3.5,-4\n",
            "name,age\n", "", "a;b\n1;2\n",
        ],
    ),
    (&["tsv"], "tsv", &["name\tage\nAnn\t31\nBob\t\n", "a\tb\n1\t2\n", ""]),
    (
        &["json"],
        "json",
        &["{\"name\": \"Ann\", \"items\": [1, 2, 2], \"a\": {\"b\": null}}", "[1, 2, 3]", "{}", "{\"a\": ", ""],
    ),
    (
        &["env", "dotenv"],
        "env",
        &["A=1\n# no\nB = two\n\nexport C=\"x y\"\n", "A=1\nA=2\nURL=http://a/?b=c\n", "A\n", ""],
    ),
    (&["toml"], "toml", &["title = \"a\"\n\n[owner]\nname = \"b\"\nages = [1, 2]\n", "a = 1\n", "a = \n", ""]),
    (&["yaml", "yml"], "yaml", &["a: 1\nb:\n  - x\n  - 2\n", "- 1\n- 2\n", ""]),
    (
        &["ini", "cfg", "config", "settings"],
        "ini",
        &["[a]\nx = 1\ny = two words\n\n[b]\nx = 3\n", "key = value\n# no\n", ""],
    ),
    (
        &["log", "logs"],
        "log",
        &[
            "2026-01-02 10:00:00 INFO started\n2026-01-02 10:00:05 ERROR disk full\n",
            "ERROR a\nWARNING b\nERROR a\n\nx\n",
            "",
        ],
    ),
    (&["md", "markdown"], "md", &["# A\n\ntext *b*\n\n## B\n\n- one\n- two\n", "text\n", ""]),
];

/// Modules that read files, and the sorts that they read, by their endings: without other words the first.
const MODULES: &[(&str, &[&str])] = &[
    ("json", &["json", "jsonl"]),
    ("csv", &["csv", "tsv"]),
    ("configparser", &["ini"]),
    ("tomllib", &["toml"]),
    ("yaml", &["yaml"]),
];

/// Texts of files of no such sort.
const TEXTS: &[&str] =
    &["the quick fox\nThe dog\n\nthe end 42\n", "", "3\n1\n-2\n3\n", "one line", " a = 1 \n# no\nb=2\r\n"];

/// Files in folders, with their texts.
const FOLDERS: &[&[(&str, &str)]] = &[
    &[("a.txt", "one\n"), ("b.py", "x = 1\n"), ("c/d.txt", "two\nthree\n")],
    &[],
    &[("A.TXT", "one\n"), (".hidden", "x"), ("same.txt", "one\n"), ("c/d/e.json", "{}")],
];

/// Paths, most of which lead nowhere.
pub const PATHS: &[&str] = &["new.txt", "a/b.tar.gz", "", "/a/b", "..", "a/../b", ".hidden"];

/// Names of files of a call.
const NAMES: &[&str] = &["one", "two", "three", "four", "five", "six"];

const OF_FILES: &[&str] = &["path", "file", "filename", "filepath", "fname", "infile", "outfile"];
const OF_FOLDERS: &[&str] = &["folder", "directory", "dir", "dirname"];

fn ends_with_one_of(name: &str, all: &[&str]) -> bool {
    code::words_of_names(name).last().is_some_and(|last| all.contains(&last.as_str()))
}

/// Returns true if a parameter of this name usually has a path.
pub fn is_path(name: &str) -> bool {
    ends_with_one_of(name, OF_FILES) || ends_with_one_of(name, OF_FOLDERS)
}

/// The values of a parameter that a function of this head takes, with files where it names them. Candidates
/// show that it names a folder, and the columns of files.
pub fn with_files(head: &str, function: &str, parameter: Parameter, uses: &Uses) -> Parameter {
    let is_folder = ends_with_one_of(&parameter.name, OF_FOLDERS) || uses.is_folder(&parameter.name);
    let is_path = is_path(&parameter.name);
    let made = || match uses.columns() {
        _ if is_folder => folders(),
        [] => files(&[&parameter.name, function, head], uses),
        columns => with_columns(columns),
    };
    let kind = placed(parameter.kind.clone(), is_path, &made);
    Parameter { kind, ..parameter }
}

/// The kind with files in the place of paths, and of texts if these name a file.
fn placed(kind: Kind, is_path: bool, made: &dyn Fn() -> Vec<Value>) -> Kind {
    match kind {
        Kind::Path(all) if all.is_empty() => Kind::Path(made()),
        Kind::Text if is_path => Kind::Path(made()),
        kind => kind.with_inside(&|kind| placed(kind, is_path, made)),
    }
}

fn files(texts: &[&str], uses: &Uses) -> Vec<Value> {
    let speaks_of = |text: &&str| {
        let words = code::words_of_names(text);
        SORTS.iter().find(|(names, ..)| names.iter().any(|name| words.iter().any(|word| word == name)))
    };
    let said = texts.iter().find_map(speaks_of);
    // The module that candidates read files with says more than names.
    let mut read = MODULES.iter().filter(|(module, _)| uses.read_of(module)).map(|(_, endings)| endings);
    let ending = read.next().and_then(|endings| {
        let is_one = said.is_some_and(|(_, ending, _)| endings.contains(ending));
        endings.first().filter(|_| !is_one)
    });
    let sort = ending.and_then(|ending| SORTS.iter().find(|(_, own, _)| own == ending)).or(said);
    let (ending, held) = sort.map_or(("txt", TEXTS), |(_, ending, held)| (*ending, *held));
    let one =
        |(name, text): (&&str, &&str)| made(FILE_MAKER, format!("{name}.{ending}"), Value::Text((*text).to_owned()));
    NAMES.iter().zip(held).map(one).collect()
}

/// Files of rows with these columns: several rows that begin alike, none, and nothing at all.
fn with_columns(columns: &[String]) -> Vec<Value> {
    let cell = |(at, row): (usize, &usize)| match Kind::of_name(&columns[at]) {
        Kind::Text => ["Ann", "Bob", "Ann"][row % 3].to_owned(),
        _ => (row + 3 * at + 1).to_string(),
    };
    let rows = |rows: &[usize]| {
        let row = |row: &usize| (0..columns.len()).map(|at| cell((at, row))).collect::<Vec<_>>().join(",") + "\n";
        columns.join(",") + "\n" + &rows.iter().map(row).collect::<String>()
    };
    let texts = [rows(&[0, 1, 2]), rows(&[3, 0, 3, 1]), rows(&[]), String::new()];
    let one = |(name, text): (&&str, String)| made(FILE_MAKER, format!("{name}.csv"), Value::Text(text));
    NAMES.iter().zip(texts).map(one).collect()
}

fn folders() -> Vec<Value> {
    let file = |(name, text): &(&str, &str)| (Value::Text((*name).to_owned()), Value::Text((*text).to_owned()));
    let one = |(name, held): (&&str, &&[(&str, &str)])| {
        made(FOLDER_MAKER, (*name).to_owned(), Value::Dict(held.iter().map(file).collect()))
    };
    NAMES.iter().zip(FOLDERS).map(one).collect()
}

fn made(maker: &str, name: String, held: Value) -> Value {
    let plain = |value| Argument { name: None, value };
    Value::Made(maker.to_owned(), vec![plain(Value::Text(name)), plain(held)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    fn values(head: &str, name: &str, kind: Kind) -> Vec<String> {
        let parameter = Parameter { name: name.to_owned(), kind, ..Parameter::default() };
        let kind = with_files(head, "f", parameter, &Uses::new(Language::Python, &[], Vec::new())).kind;
        (0..6).map(|number| kind.typical(number).written(Language::Python)).collect()
    }

    #[test]
    fn parameters_that_name_files_get_files_of_the_sort_that_the_head_speaks_of() {
        let all = values("def f(path):\n    \"\"\"Reads a CSV file.\"\"\"\n", "path", Kind::Text);
        assert_eq!(all[0], "a_file(\"one.csv\", \"name,age\\nAnn,31\\nBob,\\n\\\"C, D\\\",7\\n\")");
        assert_eq!(all[1], "\"new.txt\"");
        assert!(values("", "logFile", Kind::Text)[0].starts_with("a_file(\"one.log\", \"2026-"));
        let all = values("", "p", Kind::From("Path".to_owned(), Box::new(Kind::Path(Vec::new()))));
        assert!(
            all[0].starts_with("Path(a_file(\"one.txt\", \"the quick") && all[3] == "Path(\"a/b.tar.gz\")",
            "{all:?}"
        );
        let all = values("", "paths", Kind::List(Box::new(Kind::Path(Vec::new()))));
        assert!(all.iter().any(|list| list.contains("a_file(")), "{all:?}");
        assert!(values("", "src_dir", Kind::Text)[0].starts_with("a_folder(\"one\", {\"a.txt\": "));
    }

    #[test]
    fn other_parameters_are_left_as_they_are() {
        for (name, kind) in [("profile", Kind::Text), ("path", Kind::List(Box::new(Kind::Int))), ("text", Kind::Text)] {
            let parameter = Parameter { name: name.to_owned(), kind, ..Parameter::default() };
            let uses = Uses::new(Language::Python, &[], Vec::new());
            assert_eq!(with_files("a csv file", "f", parameter.clone(), &uses), parameter);
        }
    }

    #[test]
    fn files_have_what_candidates_look_for() {
        let parameter = Parameter { name: "path".to_owned(), kind: Kind::Text, ..Parameter::default() };
        let first = |body: &str, columns: &[&str]| {
            let columns = columns.iter().map(|&name| name.to_owned()).collect();
            let uses = Uses::new(Language::Python, &[body], columns);
            with_files("", "f", parameter.clone(), &uses).kind.typical(0).written(Language::Python)
        };
        let loads = "    with open(path) as f:\n        return json.load(f)\n";
        assert!(first(loads, &[]).starts_with("a_file(\"one.json\", \"{"), "{}", first(loads, &[]));
        let uses = Uses::new(Language::Python, &[loads], Vec::new());
        let config = with_files("", "read_config", parameter.clone(), &uses).kind.typical(0);
        assert!(config.written(Language::Python).starts_with("a_file(\"one.json\""));
        let lines = with_files("", "read_jsonl", parameter.clone(), &uses).kind.typical(0);
        assert!(lines.written(Language::Python).starts_with("a_file(\"one.jsonl\""));
        let rows = "a_file(\"one.csv\", \"city,amount\\nAnn,4\\nBob,5\\nAnn,6\\n\")";
        assert_eq!(first("    for r in csv.DictReader(open(path)):\n", &["city", "amount"]), rows);
        assert!(first("    return os.walk(path)\n", &[]).starts_with("a_folder("));
        assert!(first("    return open(path)\n", &["city"]).starts_with("a_file(\"one.txt\""));
    }
}
