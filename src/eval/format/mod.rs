//! Turns rows into problems. The keys of a row determine its format, never the name of its file. Every row is
//! examined by itself, so that files can be joined.

mod humaneval;
mod mbpp;
mod multipl_e;

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::problem::{Origin, Problem};
use super::read::{JsonRow, rows};
use crate::code;
use crate::language::Language;

/// A format of problem files.
struct Format {
    /// Keys that only rows of this format have together.
    keys: &'static [&'static str],
    /// Makes a problem of a row.
    read: fn(&mut Fields) -> Result<Problem, String>,
}

/// The formats. The first whose keys are all present is used, so those with more keys stand before those with
/// fewer.
const FORMATS: &[Format] = &[
    // MultiPL-E.
    Format { keys: &["name", "language", "prompt", "tests"], read: multipl_e::read },
    // MBPP, full and sanitized.
    Format { keys: &["code", "test_list"], read: mbpp::read },
    // HumanEval-X.
    Format { keys: &["task_id", "declaration", "prompt", "test"], read: humaneval::read_x },
    // HumanEval, HumanEval+ in its form, MBXP and the other sets of mxeval.
    Format { keys: &["task_id", "prompt", "test"], read: humaneval::read },
];

/// The problems of these files, in their order. Each of them can be scored; otherwise the error says where
/// and why not.
pub fn load(files: &[PathBuf]) -> Result<Vec<Problem>, String> {
    let mut problems: Vec<Problem> = Vec::new();
    let mut known: HashMap<String, Origin> = HashMap::new();
    for file in files {
        for row in rows(file)? {
            let problem = problem(row)?;
            if let Some(first) = known.insert(problem.id.clone(), problem.origin.clone()) {
                return Err(format!(
                    "{}: the id {} is there already ({first}): ids have to be unique",
                    problem.origin, problem.id
                ));
            }
            problems.push(problem);
        }
    }
    Ok(problems)
}

fn problem(row: JsonRow) -> Result<Problem, String> {
    let origin = row.origin.clone();
    let at = |why: String| format!("{origin}: {why}");
    let has = |key: &str| row.object.contains_key(key);
    let Some(format) = FORMATS.iter().find(|format| format.keys.iter().all(|key| has(key))) else {
        return Err(at(unknown(&row.object)));
    };
    let mut fields = Fields { object: row.object, origin: row.origin };
    let mut problem = (format.read)(&mut fields).map_err(at)?;
    problem.extra = fields.object;
    check(&problem).map_err(at)?;
    Ok(problem)
}

/// Description of a row that is not a problem.
fn unknown(object: &Map<String, Value>) -> String {
    let has = |key: &str| object.contains_key(key);
    if has("task_id") && (has("completion") || has("solution")) {
        return "this is a file of samples, not of problems: give it as --solutions FILE, beside the problems"
            .to_owned();
    }
    if has("base_input") || has("plus_input") {
        return "this row holds inputs of tests, but not the tests: use the form of this set that has a key `test` \
            (of HumanEval+ that is the file with OriginFmt in its name)"
            .to_owned();
    }
    let keys: Vec<&str> = object.keys().map(String::as_str).take(12).collect();
    format!(
        "the format is not known by its keys ({}): expected those of HumanEval (task_id, prompt, entry_point, test), MBPP (task_id, \
         text or prompt, code, test_list), HumanEval-X (with declaration) or MultiPL-E (name, language, prompt, tests)",
        keys.join(", ")
    )
}

/// Refuses a problem that cannot be scored, before any time is spent on a model.
fn check(problem: &Problem) -> Result<(), String> {
    let id = &problem.id;
    if problem.prompt.is_empty() {
        return Err(format!("the prompt of {id} is empty: there is nothing to complete"));
    }
    if problem.tests.trim().is_empty() {
        return Err(format!("{id} has no tests: whatever is written could not be judged"));
    }
    if !has_check(problem.language, &problem.tests) {
        return Err(format!("the tests of {id} check nothing: they hold no assert, so everything would pass"));
    }
    if problem.language == Language::Python && problem.entry_point.is_none() {
        return Err(format!("{id} has no entry point: it is not known which function the tests are about"));
    }
    Ok(())
}

/// Returns true if `tests` holds a check that can fail.
fn has_check(language: Language, tests: &str) -> bool {
    let mut code = tests.lines().map(|line| line.split(language.line_comment()).next().unwrap_or_default());
    code.any(|line| language.checks().iter().any(|word| line.contains(word)))
}

/// The keys of a row, taken out one by one. The rest is kept with the problem.
struct Fields {
    object: Map<String, Value>,
    origin: Origin,
}

impl Fields {
    /// A text; missing and null are an error.
    fn text(&mut self, key: &str) -> Result<String, String> {
        self.maybe_text(key)?.ok_or_else(|| format!("the key `{key}` is missing"))
    }

    /// A text that may be missing or null.
    fn maybe_text(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.object.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("`{key}` is {}, expected a text", kind(&other))),
        }
    }

    /// A list of texts that may be missing or null. A list encoded as a text counts, too.
    fn texts(&mut self, key: &str) -> Result<Option<Vec<String>>, String> {
        let wrong = |what: &str| format!("`{key}` is {what}, expected a list of texts");
        let list = match self.object.remove(key) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(list)) => list,
            Some(Value::String(text)) => serde_json::from_str(&text).map_err(|_| wrong("a text"))?,
            Some(other) => return Err(wrong(kind(&other))),
        };
        let text = |item: Value| match item {
            Value::String(text) => Ok(text),
            other => Err(wrong(&format!("a list with {} in it", kind(&other)))),
        };
        list.into_iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// The id; a number gets the name of its set in front.
    fn id(&mut self, key: &str, set: &str) -> Result<String, String> {
        match self.object.remove(key) {
            Some(Value::String(id)) if !id.trim().is_empty() => Ok(id),
            Some(Value::Number(number)) => Ok(format!("{set}/{number}")),
            Some(other) => Err(format!("`{key}` is {}, expected a name such as \"{set}/0\"", kind(&other))),
            None => Err(format!("the key `{key}` is missing")),
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(text) if text.is_empty() => "an empty text",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The language that a row names.
fn language(name: &str) -> Result<Language, String> {
    Language::by_any_name(name).ok_or_else(|| {
        let known: Vec<&str> = Language::ALL.iter().map(|language| language.name()).collect();
        format!("its language is {name}, which cannot be tested: expected one of {}", known.join(", "))
    })
}

/// The name of the last function of a Python text that is not inside another one.
fn last_function(text: &str) -> Option<String> {
    let functions = code::function_names(Language::Python, text);
    functions.into_iter().map(|f| f.name).rfind(|name| !name.contains('.'))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::problem::Answer;
    use super::*;

    fn read(row: &str) -> Result<Problem, String> {
        let Value::Object(object) = serde_json::from_str(row).unwrap() else { panic!("no object") };
        problem(JsonRow { object, origin: Origin { file: "p.jsonl".into(), line: 7 } })
    }

    #[test]
    fn humaneval_and_what_else_has_its_keys() {
        let row = r#"{"task_id":"HumanEval/0","prompt":"import re\n\n\ndef f(x):\n    \"\"\" One. \"\"\"\n","entry_point":"f",
            "canonical_solution":"    return x\n","test":"def check(candidate):\n    assert candidate(1) == 1\n","note":3}"#;
        let problem = read(row).unwrap();
        assert_eq!((problem.id.as_str(), problem.language), ("HumanEval/0", Language::Python));
        assert_eq!(problem.reference, Some(Answer::Completion("    return x\n".to_owned())));
        assert!(problem.prompt.ends_with("\"\"\"\n") && problem.stop.is_none());
        assert_eq!(problem.extra.keys().collect::<Vec<_>>(), ["note"], "unknown keys are kept");
        let mxeval =
            row.replace("\"note\":3", r#""language":"javascript","description":"One.""#).replace("assert", "throw ");
        let problem = read(&mxeval).unwrap();
        assert_eq!((problem.language, problem.extra["description"].as_str()), (Language::JavaScript, Some("One.")));
        assert!(read(&row.replace("\"    return x\\n\"", "null")).unwrap().reference.is_none());
    }

    #[test]
    fn humaneval_x_takes_its_language_from_the_id() {
        let row = r##"{"task_id":"Rust/3","declaration":"\nfn below_zero(operations:Vec<i32>) -> bool {\n","prompt":"\n/*\n Whether.\n*/\n",
            "canonical_solution":"    false\n}\n","test":"#[cfg(test)]\nmod tests { assert_eq!(1, 1) }\n","example_test":""}"##;
        let problem = read(row).unwrap();
        assert_eq!((problem.language, problem.entry_point.as_deref()), (Language::Rust, Some("below_zero")));
        assert!(problem.prompt.ends_with("-> bool {\n") && problem.prompt.starts_with("\n/*"), "{}", problem.prompt);
        let row = r#"{"task_id":"Python/0","declaration":"def f(x):\n","prompt":"def f(x):\n    \"\"\" One. \"\"\"\n",
            "canonical_solution":"    return x\n","test":"def check(c):\n    assert c(1) == 1\n\ncheck(f)\n"}"#;
        let problem = read(row).unwrap();
        assert_eq!((problem.entry_point.as_deref(), problem.prompt.matches("def f").count()), (Some("f"), 1));
        let row = r#"{"task_id":"Go/0","declaration":"func F(x int) int {\n","prompt":"// One.\nfunc F(x int) int {\n","import":"",
            "test_setup":"package main\n\nimport \"testing\"\n","canonical_solution":"    return x\n}\n",
            "test":"func TestF(t *testing.T) {\n    t.Error(1)\n}\n"}"#;
        let problem = read(row).unwrap();
        assert!(problem.program(&Answer::Completion("}\n".to_owned())).starts_with("package main\n"));
        assert!(problem.tests.starts_with("package main\n\nimport") && problem.prompt.starts_with("// One."));
        assert!(
            read(r#"{"task_id":"Cobol/0","declaration":"x","prompt":"x","test":"assert"}"#)
                .unwrap_err()
                .contains("Cobol")
        );
    }

    #[test]
    fn multipl_e_gives_the_brace_back_that_its_stop_takes() {
        let row = r#"{"name":"HumanEval_23_strlen","language":"rs","prompt":"fn strlen(s: String) -> isize {\n","doctests":"keep",
            "tests":"}\n\nfn main() {\n    assert_eq!(strlen(String::new()), 0);\n}\n","stop_tokens":["\n}"]}"#;
        let problem = read(row).unwrap();
        assert_eq!(
            problem.program(&Answer::Completion("    0".to_owned())),
            "fn strlen(s: String) -> isize {\n    0\n}\n"
        );
        assert!(problem.tests.starts_with("\nfn main()"), "{:?}", problem.tests);
        assert_eq!((problem.stop, problem.entry_point.as_deref()), (Some(vec!["\n}".to_owned()]), Some("strlen")));
        let row = r#"{"name":"mbpp_3_is_not_prime","language":"py","prompt":"def is_not_prime(n):\n    \"\"\"No.\"\"\"\n",
            "tests":"def check(candidate):\n    assert candidate(2) == False\n\ndef test_check():\n    check(is_not_prime)\n\ntest_check()\n",
            "stop_tokens":"[\"\\ndef\"]"}"#;
        let problem = read(row).unwrap();
        assert_eq!((problem.closing.as_str(), problem.entry_point.as_deref()), ("", Some("is_not_prime")));
    }

    #[test]
    fn mbpp_full_and_sanitized() {
        let full = r#"{"task_id":602,"text":"Find the first \"\"\" repeated character.","code":"import re\r\ndef first_repeated_char(str1, k = 1):\r\n  return None",
            "test_list":["assert first_repeated_char(\"abc\") == None","assert first_repeated_char(\"aa\") == 'a'"],
            "test_setup_code":"import math","challenge_test_list":[]}"#;
        let problem = read(full).unwrap();
        assert_eq!((problem.id.as_str(), problem.entry_point.as_deref()), ("MBPP/602", Some("first_repeated_char")));
        assert_eq!(
            problem.prompt,
            "def first_repeated_char(str1, k = 1):\n    \"\"\"Find the first \\\"\\\"\\\" repeated character.\"\"\"\n"
        );
        assert_eq!(problem.tests.lines().next(), Some("import math"));
        assert!(matches!(problem.reference, Some(Answer::Program(_))));
        let sanitized = r#"{"source_file":"x","task_id":2,"prompt":"Write it.","code":"def shared(a, b):\n  return a",
            "test_imports":["import collections"],"test_list":["assert set(shared((1,),(2,))) == set()"]}"#;
        let problem = read(sanitized).unwrap();
        assert_eq!(
            (problem.entry_point.as_deref(), problem.tests.lines().next()),
            (Some("shared"), Some("import collections"))
        );
    }

    #[test]
    fn what_cannot_be_scored_is_refused() {
        let row = |change: &[(&str, Value)]| {
            let mut object = serde_json::json!({"task_id": "T/1", "prompt": "def f():\n", "entry_point": "f",
                "canonical_solution": "    return 1\n", "test": "def check(c):\n    assert c() == 1\n"});
            for (key, value) in change {
                object[key] = value.clone();
            }
            read(&object.to_string())
        };
        assert!(row(&[]).is_ok());
        for (key, value, words) in [
            ("entry_point", Value::Null, "T/1 has no entry point"),
            ("test", "\n \n".into(), "T/1 has no tests"),
            ("test", "def check(c):\n    # assert nothing\n    c()\n".into(), "check nothing"),
            ("prompt", "".into(), "is empty"),
            ("prompt", 3.into(), "`prompt` is a number, expected a text"),
            ("task_id", Value::Null, "`task_id` is null"),
            ("language", "cobol".into(), "cobol"),
        ] {
            let error = row(&[(key, value)]).unwrap_err();
            assert!(error.starts_with("p.jsonl, line 7: ") && error.contains(words), "{error}");
        }
        assert!(read(r#"{"task_id":"x","completion":"y"}"#).unwrap_err().contains("--solutions"));
        assert!(read(r#"{"task_id":"x","prompt":"y","base_input":[]}"#).unwrap_err().contains("OriginFmt"));
        assert!(read(r#"{"question":"x","starter_code":"y"}"#).unwrap_err().contains("question, starter_code"));
    }

    #[test]
    fn ids_are_unique_over_all_files() {
        let folder = tempfile::tempdir().unwrap();
        let row = r#"{"task_id":"T/1","prompt":"def f():\n","entry_point":"f","test":"assert f() == 1"}"#;
        let files: Vec<PathBuf> = ["a.jsonl", "b.json"].iter().map(|name| folder.path().join(name)).collect();
        std::fs::write(&files[0], row).unwrap();
        std::fs::write(&files[1], format!("[\n{row}]")).unwrap();
        let error = load(&files).unwrap_err();
        assert!(
            error.contains("b.json, line 2") && error.contains("a.jsonl, line 1") && error.contains("T/1"),
            "{error}"
        );
        assert_eq!(load(&files[..1]).unwrap().len(), 1);
        assert!(load(&[Path::new("no/such").to_path_buf()]).unwrap_err().contains("no/such"));
    }
}
