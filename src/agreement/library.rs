//! Types of the libraries of languages, and values of them.

use super::kind::Kind;
use crate::language::Language;

/// Expressions for values of Python's library types.
const PYTHON: &[(&str, &[&str])] = &[
    ("bytes", &["b\"\"", "b\"a\"", "b\"abc\"", "b\"hello world\"", "b\"\\x00\\xff\"", "b\"aabbcc\"", "b\"12\\n\""]),
    ("complex", &["0j", "1 + 2j", "-1j", "3 + 0j", "0.5 - 1.5j"]),
    ("range", &["range(0)", "range(5)", "range(2, 9, 3)", "range(3, 0, -1)"]),
];

/// Arguments by which Python's library types make values.
const CALLED: &[(&str, &[&str])] = &[
    ("bytearray", &["b\"\"", "b\"abc\"", "b\"\\x00\\xff\"", "b\"aabbcc\""]),
    // Among them are a Friday, a Saturday, a Sunday and a Monday.
    (
        "date",
        &[
            "2024, 2, 29", "2023, 1, 1", "2000, 12, 31", "2024, 5, 17", "2024, 5, 18", "1999, 3, 1", "2026, 11, 30",
            "2024, 6, 9",
        ],
    ),
    (
        "datetime",
        &[
            "2024, 2, 29, 13, 45", "2023, 1, 1", "2000, 12, 31, 23, 59, 59", "2024, 5, 17, 18, 30",
            "2024, 5, 18, 6, 0, 1", "2026, 11, 30, 12",
        ],
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
            "new Date(\"2024-05-17T18:30:00Z\")", "new Date(\"2024-05-18T00:00:00Z\")",
            "new Date(\"2026-11-30T12:00:00Z\")",
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

/// The kind of a type of a library: how a file spells it, and its last name.
pub fn kind(language: Language, spelled: &str, last: &str) -> Option<Kind> {
    let listed = |table: &[(&str, &[&str])], name: &str| {
        table.iter().find(|(other, _)| *other == name).map(|(_, all)| all.iter().map(|&text| text.to_owned()).collect())
    };
    if language != Language::Python {
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

#[cfg(test)]
mod tests {
    use super::super::annotation::{Types, dates};
    use super::*;
    use crate::code::Declarations;

    fn values(language: Language, annotation: &str) -> Vec<String> {
        let declared = Declarations::of_file(language, "");
        let kind = Types::new(language, &declared).kind(annotation);
        (0..6).map(|number| kind.typical(number).written(language)).collect()
    }

    #[test]
    fn types_of_the_library_are_written_as_the_file_names_them() {
        let python = |annotation| values(Language::Python, annotation);
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
        let typescript = |annotation| values(Language::TypeScript, annotation);
        assert_eq!(typescript("Date")[1], "new Date(0)");
        assert_eq!(typescript("Map<string, number>")[1], "new Map([[\"abc\", 3]])");
    }

    #[test]
    fn dates_are_of_days_before_and_behind_a_weekend() {
        let all = kind(Language::Python, "date", "date");
        let Some(Kind::OneOf(all)) = all else { panic!("{all:?}") };
        for day in ["2024, 5, 17", "2024, 5, 18", "2024, 6, 9", "1999, 3, 1"] {
            assert!(all.contains(&format!("date({day})")), "{day}");
        }
    }
}
