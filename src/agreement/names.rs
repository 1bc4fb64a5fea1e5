//! Texts of usual forms, for what is named so: versions, addresses, templates, colours.

use super::kind::{Kind, Parameter};
use super::value::Value;
use crate::code;

/// Texts of a form.
struct Form {
    /// Words of names of parameters, or of their functions.
    named: &'static [&'static str],
    /// Last words of names of parameters alone.
    last: &'static [&'static str],
    /// Words of documentation.
    said: &'static [&'static str],
    texts: &'static [&'static str],
}

const FORMS: &[Form] = &[
    Form {
        named: &["version", "versions", "semver"],
        last: &[],
        said: &["semver"],
        texts: &["1.2.0", "1.2.0-rc1", "1.10.0", "1.2", "2.0.0", "0.9.10"],
    },
    Form {
        named: &["email", "emails", "mail", "mails"],
        last: &[],
        said: &["email", "emails"],
        texts: &[
            "a.b+c@example.com", "First.Last+tag@Gmail.com", " USER@Example.COM ", "x.y@gmail.com", "no-at",
            "a@b@c.com",
        ],
    },
    Form {
        named: &[],
        last: &["url", "urls", "uri", "link", "href"],
        said: &[],
        texts: &[
            "https://example.com/a/b.html?x=1&y=two#top",
            "http://localhost:8080",
            "/a/b?q=a%20b",
            "ftp://u:p@h.org/",
            "example.com",
            "https://example.com?x=1&x=2&z",
        ],
    },
    Form {
        named: &[],
        last: &["template", "tmpl"],
        said: &[],
        texts: &["Dear {{name}}, {{ name }}!", "{name} has {n}", "${name} and $name", "%s of %d", "{{}} {{name}"],
    },
    Form {
        named: &[],
        last: &["query", "qs"],
        said: &[],
        texts: &["a=1&b=2", "?a=1&a=2&c", "name=Ann%20B&x=", "SELECT a FROM t WHERE b = 1", "two words", "a+b=c%26d"],
    },
    Form {
        named: &[],
        last: &["sql"],
        said: &[],
        texts: &[
            "SELECT a, b FROM t WHERE c = 'x;y' -- no\n",
            "select * from t; INSERT INTO t VALUES (1, 'it''s');",
            "DROP TABLE t",
            "UPDATE t SET a = 1 WHERE b IN (1, 2)",
        ],
    },
    Form {
        named: &["markdown"],
        last: &["md"],
        said: &["markdown"],
        texts: &[
            "# A\n\nText *b* and **c**.\n\n- one\n- two\n",
            "## A `b`\n[text](http://a.b/c)\n",
            "a\n\n```py\n# no\n```\n",
            "1. x\n2. y\n",
        ],
    },
    Form {
        named: &["html"],
        last: &["xml", "svg"],
        said: &["html"],
        texts: &[
            "<p class=\"a\">One <b>two</b> &amp; three</p>",
            "<a href='/x'>y</a><br/><!-- no -->",
            "a < b & c > d",
            "<ul><li>1</li><li>2</li></ul>",
            "<script>x</script>",
        ],
    },
    Form {
        named: &["jsonl", "ndjson"],
        last: &[],
        said: &["jsonl"],
        texts: &["{\"id\": 1}", "", "# no", " {\"a\": [1, null]} ", "[1, 2]", "{\"a\": "],
    },
    Form {
        named: &["json"],
        last: &[],
        said: &[],
        texts: &[
            "{\"a\": 1, \"b\": [2, null]}", "[1, 2, {\"a\": \"x\"}]", "{\"a\": ", "\"x\"", "{\"a\": {\"b\": true}}",
        ],
    },
    Form {
        named: &["csv"],
        last: &[],
        said: &[],
        texts: &[
            "1,\"x, y\",\"a \"\"b\"\"\"", "\"a,b\",c", "\"\"\"\",,\" d\"", "name,age\nAnn,31\nBob,\n",
            "a,b\n1,2\n3,\"x, y\"\n", "a,b\n1\n1,2,3\n", "name,age\n",
        ],
    },
    Form {
        named: &["color", "colour", "hex"],
        last: &[],
        said: &[],
        texts: &["#ff8000", "#0aF", "00FF7f", "rgb(1, 2, 3)", "red", "#12345", "#11223344"],
    },
    Form {
        named: &["ip", "ipv4"],
        last: &[],
        said: &["ipv4"],
        texts: &["192.168.0.1", "256.1.1.1", "10.0.0", "216.08.094.196", "::1", "127.0.0.1:80", "0.0.0.0"],
    },
    Form {
        named: &["phone"],
        last: &["telephone"],
        said: &["phone"],
        texts: &["+1 (555) 123-4567", "555-1234", "0049 30 123456", "5551234567", "call me", "1-800-555-0199"],
    },
    Form {
        named: &["locale"],
        last: &["lang"],
        said: &[],
        texts: &["en_US", "de-DE", "fr", "zh-Hant-TW", "pt_BR.UTF-8", "EN"],
    },
    Form {
        named: &["timestamp", "timestamps"],
        last: &[],
        said: &[],
        texts: &[
            "2024-02-29T13:45:00Z", "2024-05-17 18:30:05", "2023-01-01T00:00:00+02:00", "2024-13-01", "1700000000",
            "12:30",
        ],
    },
    Form {
        named: &[],
        last: &["date", "dates", "birthday"],
        said: &[],
        texts: &["2024-02-29", "2023-12-31", "01/02/2024", "2024-02-30", "31.12.1999", "May 17, 2024"],
    },
    Form {
        named: &[],
        last: &["log", "logs"],
        said: &[],
        texts: &[
            "2026-01-02 10:00:00 INFO started\n2026-01-02 10:00:05 ERROR disk full\n",
            "ERROR a\nWARNING b\nERROR a\n",
            "[info] GET /a 200 12ms",
        ],
    },
    Form {
        named: &[],
        last: &["expr", "expression", "formula"],
        said: &[],
        texts: &["1 + 2 * 3", "(1 + 2) * -3", "2 ^ 3 ^ 2", "a * (b - 1)", "10 / 4 - 1", "1 +", "((1)"],
    },
    Form {
        named: &[],
        last: &["ext", "extension", "extensions"],
        said: &[],
        texts: &[".txt", "txt", ".py", "", ".TXT", "json"],
    },
    Form {
        named: &[],
        last: &["src", "snippet"],
        said: &[],
        texts: &[
            "x = 1  # one\nprint(x)\n", "def f(a):\n    return a\n", "let a = \"b\"; // c\n", "", "if (a) { b(); }\n",
        ],
    },
];

/// The texts that a parameter, its function, or what this head says of them, is named after.
fn texts(head: &str, function: &str, parameter: &str) -> &'static [&'static str] {
    let own = code::words_of_names(parameter);
    let of_function = code::words_of_names(function);
    let said = code::words_of_names(head);
    let any = |words: &[String], all: &[&str]| words.iter().any(|word| all.contains(&word.as_str()));
    let is_own = |form: &&Form| any(&own, form.named) || any(&own[own.len().saturating_sub(1)..], form.last);
    let is_it = |form: &&Form| any(&of_function, form.named) || any(&said, form.said);
    FORMS.iter().find(is_own).or_else(|| FORMS.iter().find(is_it)).map_or(&[], |form| form.texts)
}

/// The values of a parameter that a function of this head takes, with texts of its form before others.
/// `is_open` says that nothing tells the kind.
pub fn with_forms(head: &str, function: &str, parameter: Parameter, is_open: bool) -> Parameter {
    let texts = texts(head, function, &parameter.name);
    let kind = of_fields(parameter.kind);
    let is_line = code::words_of_names(&parameter.name).last().is_some_and(|last| last == "line");
    let texts: Vec<&str> = texts.iter().copied().filter(|text| !is_line || !text.contains('\n')).collect();
    let kind = if texts.is_empty() { kind } else { placed(kind, &texts, is_open) };
    Parameter { kind, ..parameter }
}

/// The kind with such texts in the fields of objects.
fn of_fields(kind: Kind) -> Kind {
    let all = |fields: Vec<Parameter>| fields.into_iter().map(|field| with_forms("", "", field, false)).collect();
    match kind {
        Kind::Fields(fields) => Kind::Fields(all(fields)),
        Kind::New(callee, taken) => Kind::New(callee, all(taken)),
        kind => kind.with_inside(&of_fields),
    }
}

fn placed(kind: Kind, texts: &[&str], is_open: bool) -> Kind {
    let values = || texts.iter().map(|&text| Value::Text(text.to_owned())).collect();
    match kind {
        Kind::Told(all, kind) if *kind == Kind::Text => Kind::Told(all, kind).told(values()),
        Kind::Text => kind.told(values()),
        Kind::Int | Kind::Unknown if is_open => Kind::Text.told(values()),
        Kind::Told(_, kind) if is_open && *kind == Kind::Int => Kind::Text.told(values()),
        kind => kind.with_inside(&|kind| placed(kind, texts, is_open)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::kind::Way;
    use crate::language::Language;

    #[test]
    fn names_say_forms_of_texts() {
        let list = || Kind::List(Box::new(Kind::Text));
        for (head, function, name, kind, is_open, text) in [
            ("", "compare_versions", "a", Kind::Text, false, Some("1.2.0")),
            ("/** Compares semver strings. */", "cmp", "a", Kind::Int, true, Some("1.2.0")),
            ("", "f", "userEmail", Kind::Text, false, Some("a.b+c@example.com")),
            ("", "f", "version", Kind::Int, false, None),
            ("", "html_of", "url", Kind::Text, false, Some("https://example.com/a/b.html?x=1&y=two#top")),
            ("", "f", "bgColor", Kind::Text, false, Some("#ff8000")),
            ("", "f", "query_count", Kind::Int, true, None),
            ("", "f", "title", Kind::Text, false, None),
            ("", "read_jsonl", "line", Kind::Text, false, Some("{\"id\": 1}")),
            ("", "parse_csv_line", "line", Kind::Text, false, Some("1,\"x, y\",\"a \"\"b\"\"\"")),
        ] {
            let parameter = Parameter { name: name.to_owned(), kind: kind.clone(), ..Parameter::default() };
            let found = with_forms(head, function, parameter, is_open).kind;
            match text {
                Some(text) => assert_eq!(found.typical(0), Value::Text(text.to_owned()), "{name}"),
                None => assert_eq!(found, kind, "{name}"),
            }
        }
        let field = Parameter { name: "email".to_owned(), kind: Kind::Text, way: Way::Named, ..Parameter::default() };
        let users = Kind::List(Box::new(Kind::Fields(vec![field])));
        let users = with_forms("", "f", Parameter { kind: users, ..Parameter::default() }, false).kind.typical(1);
        assert_eq!(users.written(Language::Python), "[{\"email\": \"First.Last+tag@Gmail.com\"}]");
        let emails = Parameter { name: "emails".to_owned(), kind: list(), ..Parameter::default() };
        let all = with_forms("", "f", emails, false).kind.typical(1);
        assert_eq!(all, Value::List(vec![Value::Text("First.Last+tag@Gmail.com".to_owned())]));
    }
}
