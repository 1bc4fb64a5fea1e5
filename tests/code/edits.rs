//! A candidate as a change of its file: imports, helpers, members and decorators that come with a body.

use std::fs;

use bass_tui::code::{Place, Target, TargetSpec};
use bass_tui::language::Language;

pub fn target(file: &str, language: Language, name: &str) -> Target {
    Target::in_text(file, language, &Place::Function(name.to_owned())).unwrap()
}

/// The file with the function of an answer in it.
pub fn taken(file: &str, language: Language, name: &str, answer: &str) -> String {
    let fenced = format!("Here it is:\n```{}\n{answer}```\nDone.", language.name());
    let (program, is_early) = taken_as_said(file, language, name, &fenced);
    assert!(is_early, "all of it is read as it streams: {program}");
    program
}

/// The file with the function of a whole answer in it, and true if all of the function was read as it
/// streamed.
pub fn taken_as_said(file: &str, language: Language, name: &str, fenced: &str) -> (String, bool) {
    let target = target(file, language, name);
    let (candidate, ended) = target.requested().read(fenced, true);
    assert!(ended, "{candidate}");
    // What streams is never taken back.
    let mut seen = String::new();
    for (at, _) in fenced.match_indices('\n') {
        let (text, ended) = target.requested().read(&fenced[..=at], false);
        assert!(text.starts_with(seen.trim_end()), "{seen:?} became {text:?}");
        seen = text;
        if ended {
            assert_eq!(seen, candidate);
            break;
        }
    }
    assert!(candidate.starts_with(seen.trim_end()), "{seen:?} became {candidate:?}");
    // Taken, it is read back as it is.
    let program = target.splice(&candidate);
    assert_eq!(String::from_utf8(target.splice_bytes(&candidate)).unwrap(), program);
    (program, seen == candidate)
}

#[test]
fn imports_of_python_join_those_of_the_file() {
    let file = "\"\"\"Text.\"\"\"\n\nimport os\nfrom typing import List\n\n\nTOP = 3\n\n\ndef f(xs: List[int]) -> float:\n    \"\"\"Doc.\"\"\"\n\n\ndef g():\n    return os\n";
    let answer = "import os\nimport re\nimport json\nfrom typing import List, Dict\nfrom statistics import mean\n\ndef f(xs: List[int]) -> float:\n    seen: Dict[int, int] = {}\n    re.sub('a', 'b', '')\n    return mean(xs)\n";
    let wanted = file
        .replace(
            "import os\nfrom typing import List\n",
            "import os\nimport re\nfrom statistics import mean\nfrom typing import Dict, List\n",
        )
        .replace(
            "\"\"\"Doc.\"\"\"\n",
            "\"\"\"Doc.\"\"\"\n    seen: Dict[int, int] = {}\n    re.sub('a', 'b', '')\n    return mean(xs)\n",
        );
    assert_eq!(taken(file, Language::Python, "f", answer), wanted);
    // A file without imports: behind its docstring, or at its beginning.
    let file = "#!/usr/bin/env python3\n\"\"\"Text.\"\"\"\n\ndef f(x):\n    pass\n";
    let wanted = "#!/usr/bin/env python3\n\"\"\"Text.\"\"\"\n\nimport re\n\n\ndef f(x):\n    return re.sub(x, x, x)\n";
    let answer = "import re\ndef f(x):\n    return re.sub(x, x, x)\n";
    assert_eq!(taken(file, Language::Python, "f", answer), wanted);
    assert_eq!(
        taken("def f(x):\n    pass\n", Language::Python, "f", answer),
        "import re\n\n\ndef f(x):\n    return re.sub(x, x, x)\n"
    );
}

#[test]
fn helpers_stand_above_the_function_and_only_those_that_it_needs() {
    let file = "import os\n\n\ndef twice(x):\n    return 2 * x\n\n\n# Counts.\ndef f(n):\n    ...\n\n\ndef g():\n    return f(1)\n";
    let answer = "LIMIT = 9\nUNUSED = 1\n\ndef twice(x):\n    return x + x\n\ndef f(n):\n    return is_prime(n) and n < LIMIT and twice(n)\n\n# Tells primes.\ndef is_prime(n):\n    return all(n % d for d in divisors(n))\n\ndef divisors(n):\n    return range(2, n)\n\ndef other():\n    pass\n\nprint(f(3))\n";
    let wanted = "import os\n\n\ndef twice(x):\n    return 2 * x\n\n\nLIMIT = 9\n\n\n# Tells primes.\ndef is_prime(n):\n    return all(n % d for d in divisors(n))\n\n\ndef divisors(n):\n    return range(2, n)\n\n\n# Counts.\ndef f(n):\n    return is_prime(n) and n < LIMIT and twice(n)\n\n\ndef g():\n    return f(1)\n";
    assert_eq!(taken(file, Language::Python, "f", answer), wanted);
}

#[test]
fn members_of_the_class_come_along() {
    let file = "class Stack:\n    def __init__(self):\n        self.all = []\n\n    def push(self, x):\n        \"\"\"Adds x.\"\"\"\n\n    def pop(self):\n        return 1\n";
    let answer = "class Stack:\n    def __init__(self):\n        self.other = []\n\n    def push(self, x):\n        self._grow()\n        self.all.append(abs_of(x))\n\n    def _grow(self):\n        text = \"\"\"a\nb\"\"\"\n\ndef abs_of(x):\n    return abs(x)\n";
    let wanted = "def abs_of(x):\n    return abs(x)\n\n\nclass Stack:\n    def __init__(self):\n        self.all = []\n\n    def _grow(self):\n        text = \"\"\"a\nb\"\"\"\n\n    def push(self, x):\n        \"\"\"Adds x.\"\"\"\n        self._grow()\n        self.all.append(abs_of(x))\n\n    def pop(self):\n        return 1\n";
    assert_eq!(taken(file, Language::Python, "Stack.push", answer), wanted);
    let file = "struct S;\n\nimpl S {\n    /// Doc.\n    fn push(&self) -> u8 {\n        todo!()\n    }\n}\n";
    let answer = "impl S {\n    fn push(&self) -> u8 {\n        self.one() + TWO\n    }\n\n    fn one(&self) -> u8 {\n        1\n    }\n}\n\nconst TWO: u8 = 2;\n";
    let wanted = "struct S;\n\nconst TWO: u8 = 2;\n\nimpl S {\n    fn one(&self) -> u8 {\n        1\n    }\n\n    /// Doc.\n    fn push(&self) -> u8 {\n        self.one() + TWO\n    }\n}\n";
    assert_eq!(taken(file, Language::Rust, "S.push", answer), wanted);
}

#[test]
fn a_decorator_and_other_names_of_parameters_are_kept() {
    let file = "import os\n\n\n@os.wraps\ndef fib(n):\n    pass\n";
    let answer = "from functools import lru_cache\n\n@lru_cache(maxsize=None)\ndef fib(number):\n    if number < 2:\n        return number\n    return fib(number - 1) + fib(number - 2)\n";
    let wanted = "import os\nfrom functools import lru_cache\n\n\n@lru_cache(maxsize=None)\n@os.wraps\ndef fib(n):\n    number = n\n    if number < 2:\n        return number\n    return fib(number - 1) + fib(number - 2)\n";
    assert_eq!(taken(file, Language::Python, "fib", answer), wanted);
    let file = "function add(a, b) {\n}\n";
    let wanted = "function add(a, b) {\n  let x = a;\n  return x + b;\n}\n";
    assert_eq!(taken(file, Language::JavaScript, "add", "function add(x, b) {\n  return x + b;\n}\n"), wanted);
    let file = "package p\n\nfunc add(a, b int) int {\n}\n";
    let wanted = "package p\n\nfunc add(a, b int) int {\n\tx := a\n\treturn x + b\n}\n";
    assert_eq!(taken(file, Language::Go, "add", "func add(x, b int) int {\n\treturn x + b\n}\n"), wanted);
}

#[test]
fn imports_of_go_stand_in_its_list() {
    let body = "func f(s string) string {\n\treturn strings.ToUpper(fmt.Sprint(s, sort.IsSorted(nil)))\n}\n";
    let answer = format!("package p\n\nimport (\n\t\"fmt\"\n\t\"os\"\n\t\"sort\"\n\t\"strings\"\n)\n\n{body}");
    let stub = "func f(s string) string {\n}\n";
    let cases = [
        ("package p\n\n", "package p\n\nimport (\n\t\"fmt\"\n\t\"sort\"\n\t\"strings\"\n)\n\n"),
        ("package p\n\nimport \"fmt\"\n\n", "package p\n\nimport (\n\t\"fmt\"\n\t\"sort\"\n\t\"strings\"\n)\n\n"),
        (
            "package p\n\nimport (\n\t\"bytes\"\n\t\"sort\"\n\n\t\"example.com/x\"\n)\n\n",
            "package p\n\nimport (\n\t\"bytes\"\n\t\"fmt\"\n\t\"sort\"\n\t\"strings\"\n\n\t\"example.com/x\"\n)\n\n",
        ),
        (
            "package p\n\nimport (\n\t\"fmt\"\n\tsort \"example.com/sort\"\n\t\"strings\"\n)\n\n",
            "package p\n\nimport (\n\t\"fmt\"\n\tsort \"example.com/sort\"\n\t\"strings\"\n)\n\n",
        ),
    ];
    // The type of a variable is a use of its package.
    let body_with_type = "func f(s string) string {\n\tvar b strings.Builder\n\treturn b.String()\n}\n";
    let typed = taken(&format!("package p\n\n{stub}"), Language::Go, "f", body_with_type);
    assert_eq!(typed, format!("package p\n\nimport \"strings\"\n\n{body_with_type}"));
    // A variable of the same name is there only behind its statement.
    let hidden =
        "func f(s string) string {\n\tbytes := bytes.NewBufferString(s)\n\tbytes.Grow(1)\n\treturn bytes.String()\n}\n";
    let shown = taken(&format!("package p\n\n{stub}"), Language::Go, "f", hidden);
    assert_eq!(shown, format!("package p\n\nimport \"bytes\"\n\n{hidden}"));
    let own = hidden.replace(":= bytes.", ":= s.");
    assert_eq!(taken(&format!("package p\n\n{stub}"), Language::Go, "f", &own), format!("package p\n\n{own}"));
    for (head, wanted) in cases {
        assert_eq!(taken(&format!("{head}{stub}"), Language::Go, "f", &answer), format!("{wanted}{body}"), "{head}");
        // Packages of the library are known by their names.
        let alone = taken(&format!("{head}{stub}"), Language::Go, "f", body);
        assert_eq!(alone, format!("{wanted}{body}"), "{head}");
    }
}

#[test]
fn imports_of_javascript_follow_the_file() {
    let body = "function f(p) {\n  return fs.readFileSync(join(p, 'a'));\n}\n";
    let answer = format!("import fs from 'fs';\nimport {{ join }} from 'path';\n\n{body}");
    let stub = "function f(p) {\n}\n";
    let file = format!("'use strict';\n\nconst os = require('os');\n\n{stub}module.exports = {{ f }};\n");
    let wanted = format!(
        "'use strict';\n\nconst os = require('os');\nconst fs = require('fs');\nconst {{ join }} = require('path');\n\n{body}module.exports = {{ f }};\n"
    );
    assert_eq!(taken(&file, Language::JavaScript, "f", &answer), wanted);
    let file = format!("import os from 'os';\n\nexport {stub}");
    let wanted = format!("import os from 'os';\nimport fs from 'fs';\nimport {{ join }} from 'path';\n\nexport {body}");
    assert_eq!(taken(&file, Language::TypeScript, "f", &answer), wanted);
    let required = format!("const fs = require('fs');\nconst {{ join }} = require('path');\n\n{body}");
    assert_eq!(taken(&file, Language::TypeScript, "f", &required), wanted);
}

#[test]
fn uses_of_rust_stand_with_the_others_or_in_the_body() {
    let answer = "use std::collections::HashMap;\nuse std::fmt::Write;\n\nfn f(n: u8) -> HashMap<u8, u8> {\n    HashMap::from([(n, n)])\n}\n";
    let file = "use std::io;\n\nfn f(n: u8) -> std::collections::HashMap<u8, u8> {\n    todo!()\n}\n";
    let wanted = "use std::collections::HashMap;\nuse std::io;\n\nfn f(n: u8) -> std::collections::HashMap<u8, u8> {\n    HashMap::from([(n, n)])\n}\n";
    // A path in the head is no use of the name.
    assert_eq!(taken(file, Language::Rust, "f", answer), wanted);
    let file = "mod m {\n    /// Doc.\n    pub fn f(n: u8) -> u8 {\n        todo!()\n    }\n}\n";
    let answer = "use std::collections::HashSet;\n\npub fn f(n: u8) -> u8 {\n    let s: HashSet<u8> = HashSet::new();\n    helper(n)\n}\n\nfn helper(n: u8) -> u8 {\n    n\n}\n";
    let wanted = "mod m {\n    fn helper(n: u8) -> u8 {\n        n\n    }\n\n    /// Doc.\n    pub fn f(n: u8) -> u8 {\n        use std::collections::HashSet;\n        let s: HashSet<u8> = HashSet::new();\n        helper(n)\n    }\n}\n";
    assert_eq!(taken(file, Language::Rust, "m.f", answer), wanted);
}

#[test]
fn an_answer_goes_on_while_it_may_define_what_the_body_calls() {
    let function = target("def f(n):\n    pass\n", Language::Python, "f").requested();
    let head = "```python\ndef f(n):\n    return is_prime(n)\n";
    assert_eq!(function.read(&format!("{head}\n\ndef is_pr\n"), false), ("    return is_prime(n)\n".to_owned(), false));
    let (text, ended) = function.read(&format!("{head}\n\ndef is_prime(n):\n    return n > 1\n\n\nx = 1\n"), false);
    assert!(ended && text.ends_with("\n\ndef is_prime(n):\n    return n > 1\n"), "{text}");
    // Examples are no definitions, and others may follow them.
    let examples = format!("{head}\n\nprint(f(1))\n\n# Example\nassert f(1)\n");
    assert!(!function.read(&examples, false).1);
    assert!(function.read(&examples.replace("is_prime", "abs"), false).1, "nothing is missing");
    assert!(function.read(&head.replace("is_prime", "abs"), false).0.contains("abs"));
    let known = target("from x import *\ndef f(n):\n    pass\n", Language::Python, "f").requested();
    assert!(known.read(&format!("{head}\n\ndef is_pr\n"), false).1, "it may be imported");
}

#[test]
fn members_of_an_object_that_nothing_makes_are_named() {
    let undefined = |head: &str, body: &str| {
        let file = format!(
            "import json\n\n\n{head}\n    limit = 1\n\n    def __init__(self):\n        self.rows = []\n\n    def f(self, n):\n        pass\n"
        );
        target(&file, Language::Python, "f").undefined(body)
    };
    let body = "        self.seen: int = n\n        self.one, self.two = n\n        return self.two + self.rows[self.limit] + self._total(self.seen) + self.__class__.f(self) + n.left\n";
    assert_eq!(undefined("class Ledger:", body), ["_total"]);
    assert!(undefined("class Ledger(Book):", body).is_empty(), "another class may have it");
    assert!(undefined("class Outer:\n    class Ledger(Book):\n", body).is_empty());
    assert!(undefined("@attach(setattr)\nclass Ledger:", body).is_empty(), "any member");
    let file = "class Bag {\n  #all = [];\n  size() {\n    return 0;\n  }\n  f(n) {\n  }\n}\nexport { Bag };\n";
    let bag = target(file, Language::JavaScript, "f");
    assert_eq!(bag.undefined("    return this.size() + this.count(n) + this.constructor.name;\n  }\n"), ["count"]);
}

#[test]
fn what_nothing_defines_is_named() {
    let undefined = |file: &str, body: &str| target(file, Language::Python, "f").undefined(body);
    let file = "import os\n\n\ndef g():\n    pass\n\n\ndef f(n, key):\n    pass\n";
    assert_eq!(undefined(file, "    return factorize(n) + g() + key(n) + len(str(n))\n"), ["factorize"]);
    assert!(
        undefined(file, "    def inner(x):\n        return x\n    h = inner\n    return h(inner(n)).foo()\n")
            .is_empty()
    );
    assert_eq!(undefined(file, "    return n + LIMIT + os.F_OK\n"), ["LIMIT"]);
    assert!(undefined(file, "    return math.sqrt(n) + sqrt(n)\n").is_empty(), "imports are added");
    let python = target(file, Language::Python, "f");
    let shown = python.with_imports("    return math.sqrt(n)\n");
    assert_eq!(shown.as_deref(), Some("    return math.sqrt(n)\n\nimport math\n"));
    assert_eq!(python.with_imports("    return os.F_OK\n\nimport math\n"), None, "it is in the text, or in the file");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.go");
    fs::write(&path, "package p\n\nfunc f(n int) int {\n}\n").unwrap();
    fs::write(
        folder.path().join("b.go"),
        "package p\n\nfunc half(n int) int { return n / 2 }\n\ntype T[X any] struct{}\n",
    )
    .unwrap();
    let target = Target::read(&TargetSpec { path, place: Place::Function("f".to_owned()) }).unwrap();
    assert_eq!(target.undefined("\treturn half(third(n))\n}\n"), ["third"]);
    fs::write(folder.path().join("c.go"), "package p\n\nvar (\n\tlog = 1\n)\n").unwrap();
    let target = Target::read(&TargetSpec { path: folder.path().join("a.go"), place: Place::Function("f".to_owned()) });
    let target = target.unwrap();
    let program = target.splice("\tlog.Print(sort.Ints)\n\treturn n\n}\n");
    assert!(program.contains("\"sort\"") && !program.contains("\"log\""), "{program}");
    let open = self::target("from pylab import *\n\n\ndef f(n):\n    pass\n", Language::Python, "f");
    assert!(!open.brings("    return random.rand(n)\n"), "it may be imported");
    let script = self::target("function f(n) {\n}\n", Language::JavaScript, "f");
    assert!(script.undefined("  return $(n);\n}\n").is_empty(), "another script may have it");
    let answer = "```go\nfunc half(n int) int {\n\treturn n >> 1\n}\n\nfunc f(n int) int {\n\treturn half(n)\n}\n```\n";
    let (candidate, _) = target.requested().read(answer, true);
    assert!(!target.splice(&candidate).contains("half(n int)"), "the package has it");
}

#[test]
fn one_candidate_is_written_shown_edited_and_undone_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.py");
    let file = "\u{feff}import os\r\n\r\n\r\ndef f(n):\r\n    pass\r\n\r\n\r\nx = os\r\n";
    fs::write(&path, file).unwrap();
    let target = Target::read(&TargetSpec { path: path.clone(), place: Place::Function("f".to_owned()) }).unwrap();
    let candidate = "    return half(math.pi)\n\n\ndef half(n):\n    return n / 2\n";
    let wanted = "\u{feff}import math\r\nimport os\r\n\r\n\r\ndef half(n):\r\n    return n / 2\r\n\r\n\r\ndef f(n):\r\n    return half(math.pi)\r\n\r\n\r\nx = os\r\n";
    let applied = target.apply(candidate, Some(&folder.path().join("backups"))).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), wanted);
    applied.undo().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), file);
    let diff = target.diff(candidate);
    assert!(diff.contains("import math") && diff.contains("+def half(n):"), "{diff}");
    assert_eq!(
        target.completed(candidate),
        "import math\nimport os\n\ndef half(n):\n    return n / 2\n\n\ndef f(n):\n    return half(math.pi)\n"
    );
    let (range, text) = target.replacement(candidate);
    let replaced = [&target.text[..range.start], &text, &target.text[range.end..]].concat();
    assert_eq!(replaced, target.splice(candidate));
    // In an editor all of it can be changed.
    let edited = target.splice(candidate).replace("n / 2", "n / 3").replace("half(math.pi)", "half(math.e)");
    let (again, is_all) = target.candidate_in(&edited).unwrap();
    assert_eq!((target.splice(&again), is_all), (edited, true));
    // A stub that was edited is written with it.
    let other = target.with_stub("def f(number):\n    \"\"\"Doc.\"\"\"\n").unwrap();
    let written = String::from_utf8(other.splice_bytes(candidate)).unwrap();
    assert_eq!(written, wanted.replace("def f(n):\r\n", "def f(number):\r\n    \"\"\"Doc.\"\"\"\r\n"));
}

/// The first one would keep its head alone, and return nothing.
#[test]
fn a_stub_with_a_second_function_under_it_is_refused() {
    let head = "def f(n):\n    \"\"\"Doc.\"\"\"\n";
    let target = target(&format!("{head}    raise NotImplementedError\n"), Language::Python, "f");
    let error =
        target.with_stub(&format!("{head}def g(a,\n      b):\n    \"\"\"Sum.\"\"\"\n")).unwrap_err().to_string();
    assert!(error.starts_with("`f` would be left without a body, as `g` stands under it"), "{error}");
    for fits in ["def g(a):\n    return a\n\n\ndef f(n):\n", "def g(a, b):\n", "def f(n):\n    def g(a):\n"] {
        assert!(target.with_stub(fits).is_ok(), "{fits}");
    }
}

#[test]
fn broken_files_are_changed_in_one_place_or_not_at_all() {
    let file = "class A {\n  f() {\n  }\n  g() {\n  }\né";
    let target = target(file, Language::JavaScript, "A.f");
    let program = target.splice("    return LIMIT;\n  }\n\nconst LIMIT = 1;\n");
    assert!(program.contains("const LIMIT = 1;") && program.ends_with('é'), "{program}");
    for head in ["\"\"\"é\"\"\"", "#!é\u{2003}", "\"\"\"é"] {
        let file = format!("{head}\ndef f(n):\n    pass\n");
        let Ok(target) = Target::in_text(&file, Language::Python, &Place::Any) else { continue };
        assert!(target.splice("    return math.pi\n").contains("import math"), "{head}");
    }
}

/// [`taken_as_said`], of an answer of several blocks.
fn taken_of(file: &str, language: Language, name: &str, blocks: &[&str]) -> (String, bool) {
    let answer = blocks.iter().flat_map(|block| ["And:\n```", language.name(), "\n", *block, "```\n"]);
    taken_as_said(file, language, name, &(answer.collect::<String>() + "Done."))
}

#[test]
fn helpers_come_from_the_other_blocks_of_an_answer() {
    let file = "def f(n):\n    ...\n";
    let body = "def f(n):\n    return twice(n)\n";
    let helper = "def twice(n):\n    return 2 * n\n";
    let wanted = format!("{helper}\n\n{body}");
    let early = (wanted, true);
    assert_eq!(taken_of(file, Language::Python, "f", &[helper, body]), early);
    assert_eq!(taken_of(file, Language::Python, "f", &[body, helper]), early);
    assert_eq!(taken_of(file, Language::Python, "f", &[body, "print(f(2))\n", helper]), early);
    // A helper that no block has is waited for until the end.
    assert_eq!(taken_of(file, Language::Python, "f", &[body, "print(f(2))\n"]).0, body);
    // A function of another name is the requested one if there is no other.
    let other = body.replace("f(n)", "g(n)");
    assert_eq!(taken_of(file, Language::Python, "f", &["print(1)\n", &other]), (body.to_owned(), false));
    let file = "package p\n\nfunc f(n int) int {\n}\n";
    let (body, helper) =
        ("func f(n int) int {\n\treturn twice(n)\n}\n", "func twice(n int) int {\n\treturn 2 * n\n}\n");
    let wanted = (format!("package p\n\n{helper}\n{body}"), true);
    assert_eq!(taken_of(file, Language::Go, "f", &[helper, body]), wanted);
}

#[test]
fn statements_that_the_function_depends_on_come_with_it() {
    let has_all = |whole: &str, lines: &str| lines.lines().all(|line| whole.contains(line));
    let file = "def f(x):\n    ...\n";
    let body = |text: &str| format!("def f(x):\n    return {text}\n");
    for (before, text) in [
        ("import sys\nsys.setrecursionlimit(10**6)\n\n\n", "f(x - 1)"),
        ("from decimal import Decimal, getcontext\n\n\ngetcontext().prec = 50\n\n\n", "Decimal(x)"),
        ("class _Node:\n    pass\n\n\n_Node.__lt__ = lambda a, b: a.v < b.v\n\n\n", "_Node(x)"),
        (
            "_HANDLERS = {}\n\n\ndef _handles(kind):\n    def register(fn):\n        _HANDLERS[kind] = fn\n        return fn\n    \
             return register\n\n\n@_handles('add')\ndef _add(a):\n    return a\n\n\n",
            "_HANDLERS[x](x)",
        ),
        ("_TABLE = None\n\n\ndef _init():\n    global _TABLE\n    _TABLE = [1]\n\n\n_init()\n\n\n", "_TABLE[x]"),
    ] {
        let answer = format!("{before}{}\nprint(f(3))\n", body(text));
        let whole = taken(file, Language::Python, "f", &answer);
        assert!(has_all(&whole, before) && !whole.contains("print"), "{whole}");
    }
    // Others are no part of it.
    let answer = format!("import sys\nsys.path.append('.')\nlogging.basicConfig()\n\n{}", body("x"));
    assert_eq!(taken(file, Language::Python, "f", &answer), body("x"));
    let file = "export function f(x) {\n}\n";
    for (before, text) in [
        (
            "class Node {\n}\n\nNode.prototype.less = (a) => a;\n\nNode.of = (x) => new Node(x);\n\n",
            "Node.of(x).less(1)",
        ),
        (
            "const REG = {};\n\nfunction register(name, fn) {\n  REG[name] = fn;\n}\n\nregister('sort', (x) => x);\n\n",
            "REG.sort(x)",
        ),
        (
            "if (!Array.prototype.last) {\n  Array.prototype.last = function () {\n    return this[0];\n  };\n}\n\n",
            "[x].last()",
        ),
        ("let count = 0;\n\nfunction bump() {\n  count++;\n}\n\nbump();\n\n", "count"),
    ] {
        let answer = format!("{before}export function f(x) {{\n  return {text};\n}}\n\nconsole.log(f(3));\n");
        let whole = taken(file, Language::JavaScript, "f", &answer);
        assert!(has_all(&whole, before) && !whole.contains("console"), "{whole}");
    }
}

#[test]
fn statements_that_change_the_function_come_behind_it() {
    let file = "def f(x):\n    ...\n\n\ndef g():\n    pass\n";
    let after = file.strip_prefix("def f(x):\n    ...\n").unwrap();
    for (before, body, behind) in [
        ("", "    f.calls += 1\n", "f.calls = 0\n"),
        ("def _listed(fn):\n    return lambda *a: list(fn(*a))\n\n\n", "    yield x\n", "f = _listed(f)\n"),
        ("", "    return '?'\n", "@f.register\ndef _(x: int):\n    return 'int'\n"),
    ] {
        let answer = format!("{before}def f(x):\n{body}\n\n{behind}\nassert f(1)\nresult = f(2)\n");
        let wanted = format!("{before}def f(x):\n{body}\n\n{behind}{after}");
        assert_eq!(taken(file, Language::Python, "f", &answer), wanted);
    }
    let file = "function f(x) {\n}\n\nmodule.exports = { f };\n";
    let answer = "function f(x) {\n  f.calls += 1;\n}\nf.calls = 0;\n";
    let wanted = "function f(x) {\n  f.calls += 1;\n}\n\nf.calls = 0;\n\nmodule.exports = { f };\n";
    assert_eq!(taken(file, Language::JavaScript, "f", answer), wanted);
}

#[test]
fn statements_that_fill_a_table_come_with_it() {
    let file = "def f(n):\n    ...\n";
    let table = "TABLE = {}\n\n\nfor n in range(9):\n    TABLE[n] = n * n\n\n\nNAMES = []\n\n\nNAMES.append('a')\n\n\n";
    let answer = format!("{table}def f(n):\n    return TABLE[n], NAMES\n\nassert TABLE[2] == 4\nNAMES.append(f(2))\n");
    let wanted = format!("{table}def f(n):\n    return TABLE[n], NAMES\n");
    assert_eq!(taken(file, Language::Python, "f", &answer), wanted);
    let file = "package p\n\nfunc f(n int) int {\n}\n";
    let table = "var table [9]int\n\nfunc init() {\n\tfor i := range table {\n\t\ttable[i] = i * i\n\t}\n}\n\n";
    let body = "func f(n int) int {\n\treturn table[n]\n}\n";
    assert_eq!(
        taken(file, Language::Go, "f", &format!("package p\n\n{table}{body}")),
        format!("package p\n\n{table}{body}")
    );
    let file = "export function f(n) {\n}\n";
    let table = "const TABLE = new Map();\n\nfor (let i = 0; i < 9; i++) {\n  TABLE.set(i, i * i);\n}\n\n";
    let body = "export function f(n) {\n  return TABLE.get(n);\n}\n";
    assert_eq!(
        taken(file, Language::JavaScript, "f", &format!("{table}{body}console.log(TABLE);\n")),
        format!("{table}{body}")
    );
}

#[test]
fn what_stands_between_two_helpers_is_no_end() {
    let file = "def f(n):\n    ...\n";
    let body = "def f(n):\n    return twice(n)\n";
    let answer = format!("{body}\nprint(f(1))\n\ndef twice(n):\n    return 2 * n\n");
    assert_eq!(taken(file, Language::Python, "f", &answer), format!("def twice(n):\n    return 2 * n\n\n\n{body}"));
}

#[test]
fn the_names_of_a_pattern_or_a_list_are_helpers() {
    let file = "export function f(n: number) {\n}\n";
    let body = "export function f(n: number) {\n  return [LOW, high, rest, n];\n}\n";
    let given = "const [LOW, ...rest] = [1, 2, 3];\n\nconst { b: high = 4, other } = { b: 2 };\n\n";
    assert_eq!(taken(file, Language::TypeScript, "f", &format!("{given}{body}")), format!("{given}{body}"));
    let file = "package p\n\nfunc f(n int) int {\n}\n";
    let given = "const (\n\tlow  = 1\n\thigh = low + 8\n)\n\n";
    let body = "func f(n int) int {\n\treturn n % high\n}\n";
    assert_eq!(taken(file, Language::Go, "f", &format!("{given}{body}")), format!("package p\n\n{given}{body}"));
}

#[test]
fn modules_of_node_are_imported_as_the_file_does() {
    let body = "export function f(p: string) {\n  return path.join(p, util.inspect(p));\n}\n";
    let file = "import os from 'os';\n\nexport function f(p: string) {\n}\n";
    let wanted = format!("import os from 'os';\nimport util from 'util';\nimport path from 'path';\n\n{body}");
    let answer = format!("import util = require('util');\n\n{body}");
    assert_eq!(taken(file, Language::TypeScript, "f", &answer), wanted);
    // A parameter of that name is none.
    let body = "export function f(path: string) {\n  return path.length;\n}\n";
    let file = "import os from 'os';\n\nexport function f(path: string) {\n}\n";
    assert_eq!(taken(file, Language::TypeScript, "f", body), format!("import os from 'os';\n\n{body}"));
    // The global of this name is another one.
    let stub = "export function f(p) {\n}\n";
    let body = "export function f(p) {\n  return crypto.createHash('md5').update(p).digest('hex');\n}\n";
    let wanted = format!("import crypto from 'crypto';\n\n{body}");
    assert_eq!(taken(stub, Language::JavaScript, "f", body), wanted);
    let body = "export function f(p) {\n  return crypto.randomUUID();\n}\n";
    assert_eq!(taken(stub, Language::JavaScript, "f", body), body);
}

#[test]
fn only_names_that_a_file_lacks_are_imported() {
    let file = "use std::fmt;\nuse std::rc::Rc;\n\npub fn f(n: u8) -> Rc<u8> {\n    todo!()\n}\n";
    let body = "pub fn f(n: u8) -> Rc<u8> {\n    let w: Weak<u8> = Weak::new();\n    println!(\"{:?}\", Wrapping(n));\n    let d: &dyn Debug = &w;\n    Rc::new(n)\n}\n";
    let answer = format!(
        "use std::fmt::{{self, Debug}};\nuse std::rc::{{Rc, Weak}};\nuse std::{{rc::Rc as Other, num::Wrapping}};\n\n{body}"
    );
    let wanted =
        format!("use std::fmt;\nuse std::fmt::Debug;\nuse std::num::Wrapping;\nuse std::rc::{{Rc, Weak}};\n\n{body}");
    assert_eq!(taken(file, Language::Rust, "f", &answer), wanted);
    let stub = "export function f(p) {\n}\n";
    let body = "export function f(p) {\n  return [one, two, top, All, p];\n}\n";
    for (own, new, wanted) in [
        ("import top from './m';", "import top, { one, two } from './m';", "import top, { one, two } from './m';"),
        (
            "import { one } from 'node:os'",
            "import { one, b as two } from 'os';",
            "import { one, b as two } from 'node:os'",
        ),
        (
            "import {one} from './m';",
            "import top, {one, two} from './m';",
            "import {one} from './m';\nimport top, { two } from './m';",
        ),
        (
            "import * as All from './m';",
            "import All, { two } from './m';",
            "import * as All from './m';\nimport { two } from './m';",
        ),
        (
            "import {\n  one,\n} from './m';",
            "import { one, two } from './m';",
            "import {\n  one,\n  two,\n} from './m';",
        ),
    ] {
        let said = format!("```js\n{new}\n\n{body}```\n");
        let (program, _) = taken_as_said(&format!("{own}\n\n{stub}"), Language::JavaScript, "f", &said);
        assert_eq!(program, format!("{wanted}\n\n{body}"), "{own}");
    }
    let body = "export function f(p) {\n  const x: Two = one(p);\n  return x;\n}\n";
    let file = format!("import type {{ One }} from './m';\n\n{stub}");
    let answer = format!("import type {{ One, Two }} from './m';\nimport {{ one }} from './m';\n\n{body}");
    let wanted = format!("import type {{ One, Two }} from './m';\nimport {{ one }} from './m';\n\n{body}");
    assert_eq!(taken(&file, Language::TypeScript, "f", &answer), wanted);
    let required = "const { one } = require('m');\n\nfunction f(p) {\n}\n";
    let body = "function f(p) {\n  return one(two(p));\n}\n";
    let program =
        taken(required, Language::JavaScript, "f", &format!("const {{ two, one }} = require('m');\n\n{body}"));
    assert_eq!(program, format!("const {{ one, two }} = require('m');\n\n{body}"));
    let file = "from os import (path)  # all\nfrom abc import ABC\n\n\ndef f(n):\n    pass\n";
    let body = "def f(n):\n    return path.join(getcwd(), n), abstractmethod, ABC\n";
    let answer =
        format!("from os import path, getcwd\nfrom abc import (\n    ABC,  # a\n    abstractmethod,\n)\n\n{body}");
    let wanted =
        format!("from os import (path)  # all\nfrom abc import ABC, abstractmethod\nfrom os import getcwd\n\n\n{body}");
    assert_eq!(taken(file, Language::Python, "f", &answer), wanted);
}

#[test]
fn imports_without_a_name_in_the_body_are_kept_where_it_needs_them() {
    let file = "pub fn f(n: u8) -> u8 {\n    todo!()\n}\n";
    let body = "pub fn f(n: u8) -> u8 {\n    let mut s = String::new();\n    stdin().read_to_string(&mut s).unwrap();\n    match n.cmp(&1) {\n        Less => 0,\n        _ => n,\n    }\n}\n";
    let uses = "use std::cmp::Ordering::{self, *};\nuse std::io::{stdin, Stdin};\nuse std::io::Read;\n";
    let more = "use std::collections::*;\nuse std::io::Seek;\nuse std::hash::Hasher;\n\n";
    let program = taken(file, Language::Rust, "f", &format!("{uses}{more}{body}"));
    assert!(
        program.contains("use std::cmp::Ordering::*;") && program.contains("use std::io::{stdin, Read};"),
        "{program}"
    );
    assert!(!program.contains("Seek") && !program.contains("Hasher"), "{program}");
    let known = "use std::io::Read;\n\npub fn f(n: u8) -> u8 {\n    todo!()\n}\n";
    assert_eq!(taken(known, Language::Rust, "f", &format!("{uses}{body}")).matches("Read").count(), 1);
    let file = "def f(n):\n    pass\n";
    let body = "def f(n):\n    return gcd_of(n) + perm(n)\n";
    let program = taken(file, Language::Python, "f", &format!("from numbers_of import *\n\n{body}"));
    assert_eq!(program, format!("from numbers_of import *\n\n\n{body}"));
    let program = taken(file, Language::Python, "f", "from numbers_of import *\n\ndef f(n):\n    return len(n)\n");
    assert_eq!(program, "def f(n):\n    return len(n)\n");
}

#[test]
fn methods_come_with_their_type() {
    let file = "package p\n\nfunc F(n int) int {\n\treturn 0\n}\n";
    let kept =
        "type pile []int\n\nfunc (p pile) Len() int { return len(p) }\n\nfunc (p *pile) F(n int) int { return n }\n\n";
    let body = "func F(n int) int {\n\tp := pile{n}\n\treturn len(p)\n}\n";
    let other = "type heap []int\n\nfunc (h heap) Len() int { return 0 }\n\n";
    assert_eq!(taken(file, Language::Go, "F", &format!("{kept}{other}{body}")), format!("package p\n\n{kept}{body}"));
    let file = "pub struct Disc(f64);\n\nimpl Disc {\n    pub fn size(&self) -> f64 {\n        todo!()\n    }\n}\n";
    let kept = "trait Twice {\n    fn twice(&self) -> f64;\n}\n\nimpl Twice for f64 {\n    fn twice(&self) -> f64 {\n        self * 2.0\n    }\n}\n\nimpl Disc {\n    fn radius(&self) -> f64 {\n        self.0.twice()\n    }\n}\n\n";
    let own = "impl Disc {\n    pub fn size(&self) -> f64 {\n        self.radius()\n    }\n}\n";
    let unused = "impl std::fmt::Display for Other {\n    fn fmt(&self) {\n    }\n}\n\n";
    let program = taken(file, Language::Rust, "Disc.size", &format!("{unused}{kept}{own}"));
    assert_eq!(program, format!("pub struct Disc(f64);\n\n{kept}{own}"));
}

#[test]
fn imports_that_only_the_old_body_used_are_taken_out() {
    let stub = "func F(n int) (int, error) {\n\treturn 0, errors.New(\"todo\")\n}\n";
    let body = "func F(n int) (int, error) {\n\treturn strconv.Atoi(\"1\")\n}\n";
    let plain = "func F(n int) (int, error) {\n\treturn n, nil\n}\n";
    let file = format!("package p\n\nimport \"errors\"\n\n{stub}");
    assert_eq!(taken(&file, Language::Go, "F", plain), format!("package p\n\n{plain}"));
    let program = taken(&file, Language::Go, "F", body);
    assert_eq!(program, format!("package p\n\nimport (\n\t\"strconv\"\n)\n\n{body}"));
    let file = format!("package p\n\nimport (\n\t\"errors\"\n\t\"os\"\n)\n\n{stub}\nvar _ = os.Args\n");
    let wanted = format!("package p\n\nimport (\n\t\"os\"\n)\n\n{plain}\nvar _ = os.Args\n");
    assert_eq!(taken(&file, Language::Go, "F", plain), wanted);
    // Imports that the body did not use are left alone, and those of other code.
    let file = format!("package p\n\nimport (\n\t\"errors\"\n\t\"os\"\n)\n\n{stub}\nvar E = errors.New(\"e\")\n");
    assert_eq!(taken(&file, Language::Go, "F", plain), file.replace(stub, plain));
}

#[test]
fn another_name_of_the_receiver_is_kept() {
    let file = "package p\n\ntype S struct{ n int }\n\nfunc (s *S) Add(a int) int {\n\treturn 0\n}\n";
    let answer = "func (c *S) Add(b int) int {\n\treturn c.n + b\n}\n";
    let wanted = file.replace("\treturn 0\n", "\tc := s\n\tb := a\n\treturn c.n + b\n");
    assert_eq!(taken(file, Language::Go, "S.Add", answer), wanted);
    assert_eq!(
        taken(file, Language::Go, "S.Add", "func (S) Add(a int) int {\n\treturn a\n}\n"),
        file.replace("return 0", "return a")
    );
}

#[test]
fn helpers_stand_above_all_of_the_item() {
    let file = "#![allow(unused)]\n\nimpl<T> Bag<T>\nwhere\n    T: Copy,\n{\n    pub fn first(&self) -> T {\n        todo!()\n    }\n}\n";
    let helper = "fn top<T: Copy>(all: &[T]) -> T {\n    all[0]\n}\n";
    let answer = format!(
        "use std::rc::Rc;\n\n{helper}\nimpl<T> Bag<T>\nwhere\n    T: Copy,\n{{\n    pub fn first(&self) -> T {{\n        let _: Rc<u8>;\n        top(&self.0)\n    }}\n}}\n"
    );
    let wanted = file.replace("todo!()", "let _: Rc<u8>;\n        top(&self.0)");
    let wanted = wanted.replace("impl<T>", &format!("use std::rc::Rc;\n\n{helper}\nimpl<T>"));
    assert_eq!(taken(file, Language::Rust, "Bag.first", &answer), wanted);
    let file = "#![allow(unused)]\n\npub fn f(n: u8) -> u8 {\n    todo!()\n}\n";
    let body = "pub fn f(n: u8) -> u8 {\n    top(&[n])\n}\n";
    assert_eq!(
        taken(file, Language::Rust, "f", &format!("{helper}\n{body}")),
        format!("#![allow(unused)]\n\n{helper}\n{body}")
    );
    let heads = "/** Doc. */\nexport function f(a: string): string;\nexport function f(\n  a: number,\n): number;\n";
    let file = format!("let x = 1;\n\n{heads}export function f(a: any): any {{\n}}\n");
    let helper = "const twice = (a: any) => {\n  return a + a;\n};\n";
    let body = "export function f(a: any): any {\n  return twice(a);\n}\n";
    let program = taken(&file, Language::TypeScript, "f", &format!("{helper}\n{body}"));
    assert_eq!(program, format!("let x = 1;\n\n{helper}\n{heads}{body}"));
}

/// The file with the function on a line in it, taken out of an answer.
fn taken_on_line(file: &str, language: Language, line: usize, answer: &str) -> String {
    let target = Target::in_text(file, language, &Place::Line(line)).unwrap();
    let fenced = format!("```\n{answer}```\n");
    for (at, _) in fenced.match_indices('\n') {
        let (text, _) = target.requested().read(&fenced[..=at], false);
        let (whole, _) = target.requested().read(&fenced, true);
        assert!(whole.starts_with(text.trim_end()), "{text:?} became {whole:?}");
    }
    target.splice(&target.requested().read(&fenced, true).0)
}

#[test]
fn functions_of_one_name_are_told_apart() {
    let file = "impl From<u8> for N {\n    fn from(n: u8) -> Self {\n        N(n)\n    }\n}\n\nimpl<'a> From<&'a std::ffi::CStr> for N {\n    fn from(s: &'a CStr) -> Self {\n        todo!()\n    }\n}\n";
    let answer = file.replace("&'a std::ffi::CStr", "&'a CStr").replace("todo!()", "N(s.len())");
    assert_eq!(taken_on_line(file, Language::Rust, 9, &answer), file.replace("todo!()", "N(s.len())"));
    let file = "class A {\n  get n() {\n    return 1;\n  }\n\n  set n(x) {\n  }\n}\n";
    let answer = file.replace("set n(x) {\n", "set n(x) {\n    this.m = x;\n");
    assert_eq!(taken_on_line(file, Language::JavaScript, 6, &answer), answer);
    let file = "class A:\n    @property\n    def n(self):\n        return self.m\n\n    @n.setter\n    def n(self, x):\n        pass\n";
    let answer = file.replace("        pass\n", "        self.m = x\n");
    assert_eq!(taken_on_line(file, Language::Python, 7, &answer), answer);
}

#[test]
fn fields_and_constants_of_a_class_come_along() {
    let file = "export class A {\n  f(n: number): number {\n    return 0;\n  }\n}\n";
    let answer = "export class A {\n  private readonly seen = new Map<number, number>();\n  private other = 1;\n  static STEP = 2; // all\n\n  f(n: number): number {\n    return this.seen.get(n) ?? this.#one(n);\n  }\n\n  #one(n: number): number {\n    return n + A.STEP;\n  }\n}\n";
    let wanted = "export class A {\n  private readonly seen = new Map<number, number>();\n\n  static STEP = 2; // all\n\n  #one(n: number): number {\n    return n + A.STEP;\n  }\n\n  f(n: number): number {\n    return this.seen.get(n) ?? this.#one(n);\n  }\n}\n";
    assert_eq!(taken(file, Language::TypeScript, "A.f", answer), wanted);
    // Fields alone, and one that the file has.
    let file = "class A {\n  #low = 1;\n\n  f(n) {\n  }\n}\n";
    let answer = "class A {\n  #low = 2;\n  high = 3;\n\n  f(n) {\n    return this.#low + this.high;\n  }\n}\n";
    let wanted = "class A {\n  #low = 1;\n\n  high = 3;\n\n  f(n) {\n    return this.#low + this.high;\n  }\n}\n";
    assert_eq!(taken(file, Language::JavaScript, "A.f", answer), wanted);
    let file = "impl A {\n    fn f(&self) -> u8 {\n        todo!()\n    }\n}\n";
    let answer = "impl A {\n    /// Most.\n    const MOST: u8 = 9;\n    const LEAST: u8 = 1;\n\n    fn f(&self) -> u8 {\n        Self::MOST\n    }\n}\n";
    let wanted =
        "impl A {\n    /// Most.\n    const MOST: u8 = 9;\n\n    fn f(&self) -> u8 {\n        Self::MOST\n    }\n}\n";
    assert_eq!(taken(file, Language::Rust, "A.f", answer), wanted);
}

#[test]
fn an_import_brings_the_names_that_are_used() {
    let stub = "def f(n):\n    pass\n";
    let body = "def f(n):\n    a: List[int] = path.join(n)\n    return a\n";
    let answer = format!("from typing import Dict, List\nimport os.path as path, sys\n\n{body}");
    let wanted = format!("import os.path as path\nfrom typing import List\n\n\n{body}");
    assert_eq!(taken(stub, Language::Python, "f", &answer), wanted);
    let stub = "export function f(p) {\n}\n";
    let body = "export function f(p) {\n  return one(p);\n}\n";
    let answer = format!("import {{ one, type Two, three as four }} from './m';\n\n{body}");
    let wanted = format!("import {{ one }} from './m';\n\n{body}");
    assert_eq!(taken(stub, Language::TypeScript, "f", &answer), wanted);
    // In their order.
    let file = "use std::fmt;\nuse std::rc::Rc;\n\npub fn f(n: u8) -> Rc<fmt::Error> {\n    todo!()\n}\n";
    let answer = "use std::io::{self, Read, BufRead};\nuse std::collections::{BTreeMap, HashMap, btree_map};\n\npub fn f(n: u8) -> Rc<fmt::Error> {\n    let _: HashMap<u8, io::Error>;\n    io::stdin().read_to_string()\n}\n";
    let program = taken(file, Language::Rust, "f", answer);
    let uses = "use std::collections::HashMap;\nuse std::fmt;\nuse std::io::{self, Read};\nuse std::rc::Rc;\n\n";
    assert!(program.starts_with(uses), "{program}");
}

#[test]
fn macros_and_statics_in_them_come_along() {
    let file = "pub fn f(n: u8) -> u8 {\n    todo!()\n}\n";
    let kept = "macro_rules! twice {\n    ($n:expr) => {\n        $n + $n\n    };\n}\n\nthread_local! {\n    static MEMO: RefCell<HashMap<u8, u8>> = RefCell::new(HashMap::new());\n}\n\n";
    let other = "macro_rules! thrice {\n    ($n:expr) => {\n        $n * 3\n    };\n}\n\n";
    let body = "pub fn f(n: u8) -> u8 {\n    MEMO.with(|m| twice!(n))\n}\n";
    let uses = "use std::cell::RefCell;\nuse std::collections::HashMap;\n\n";
    let answer = [uses, other, kept, body].concat();
    assert_eq!(taken(file, Language::Rust, "f", &answer), [uses, kept, body].concat());
}

#[test]
fn helpers_in_a_module_have_their_imports_there() {
    let file =
        "use std::io;\n\nmod m {\n    use std::rc::Rc;\n\n    pub fn f(n: u8) -> u8 {\n        todo!()\n    }\n}\n";
    let answer = "use std::cell::Cell;\nuse std::rc::Rc;\n\nstruct Bag(Rc<Cell<u8>>);\n\npub fn f(n: u8) -> u8 {\n    Bag(Rc::new(Cell::new(n))).0.get()\n}\n";
    let wanted = "use std::io;\n\nmod m {\n    use std::rc::Rc;\n\n    use std::cell::Cell;\n\n    struct Bag(Rc<Cell<u8>>);\n\n    pub fn f(n: u8) -> u8 {\n        Bag(Rc::new(Cell::new(n))).0.get()\n    }\n}\n";
    assert_eq!(taken(file, Language::Rust, "m.f", answer), wanted);
    let file = "def f(n):\n    pass\n";
    let answer = "from typing import TYPE_CHECKING, Dict\nif TYPE_CHECKING:\n    from m import T\n\n\ndef f(n):\n    x: T = n\n    return x\n";
    assert_eq!(taken(file, Language::Python, "f", answer), answer.replace(", Dict", ""));
}

#[test]
fn lines_that_stand_together_stay_together() {
    let file = "package p\n\nfunc F(n int) int {\n\treturn 0\n}\n";
    let kept = "type pile []int\n\nfunc (p pile) Len() int      { return len(p) }\nfunc (p pile) Swap(i, j int) { p[i], p[j] = p[j], p[i] }\n\n";
    let body = "func F(n int) int {\n\treturn pile{n}.Len()\n}\n";
    assert_eq!(taken(file, Language::Go, "F", &format!("{kept}{body}")), format!("package p\n\n{kept}{body}"));
    let file = "def f(n):\n    pass\n";
    let body = "def f(n):\n    return n * LEAST + MOST\n";
    let answer = format!("LEAST = 1\nMOST = 2\nOTHER = 3\n\n\n{body}");
    assert_eq!(taken(file, Language::Python, "f", &answer), format!("LEAST = 1\nMOST = 2\n\n\n{body}"));
}

#[test]
fn what_comes_along_is_indented_as_the_file_is() {
    let file = "class A {\n    f(n) {\n    }\n}\n";
    let answer = "class Full extends Error {}\n\nfunction top(n) {\n  if (n) {\n    return `\n  x`;\n  }\n}\n\nclass A {\n  #g(n) {\n    throw new Full(\n      n);\n  }\n\n  f(n) {\n    return this.#g(top(n));\n  }\n}\n";
    let wanted = "class Full extends Error {}\n\nfunction top(n) {\n    if (n) {\n        return `\n  x`;\n    }\n}\n\nclass A {\n    #g(n) {\n        throw new Full(\n            n);\n    }\n\n    f(n) {\n        return this.#g(top(n));\n    }\n}\n";
    assert_eq!(taken(file, Language::JavaScript, "A.f", answer), wanted);
    let file = "class A:\n\tdef f(self):\n\t\tpass\n";
    let answer =
        "class A:\n    def g(self):\n        return \"\"\"\n    x\"\"\"\n\n    def f(self):\n        return self.g()\n";
    let wanted = "class A:\n\tdef g(self):\n\t\treturn \"\"\"\n    x\"\"\"\n\n\tdef f(self):\n\t\treturn self.g()\n";
    assert_eq!(taken(file, Language::Python, "A.f", answer), wanted);
}

#[test]
fn members_of_a_namespace_or_an_object_come_along() {
    let file = "export namespace U {\n  export function f(s: string): string {\n    return s;\n  }\n}\n";
    let answer = "export namespace U {\n  const FILL = ' ';\n\n  function rep(c: string): string {\n    return c;\n  }\n\n  function other(c: string): string {\n    return c;\n  }\n\n  export function f(s: string): string {\n    return rep(FILL) + s;\n  }\n}\n";
    let wanted = answer.replace("  function other(c: string): string {\n    return c;\n  }\n\n", "");
    assert_eq!(taken(file, Language::TypeScript, "U.f", answer), wanted);
    let file = "const api = {\n  one,\n  f(x) {\n    return x;\n  },\n};\n";
    let answer = "const api = {\n  one,\n  factor: 2, // twice\n  f(x) {\n    return x * this.factor;\n  },\n};\n";
    let wanted = "const api = {\n  one,\n  factor: 2, // twice\n\n  f(x) {\n    return x * this.factor;\n  },\n};\n";
    assert_eq!(taken(file, Language::JavaScript, "api.f", answer), wanted);
}

#[test]
fn a_helper_may_have_the_name_of_a_module() {
    let file = "def f(t):\n    pass\n";
    let body = "def f(t):\n    return len(tokenize(t))\n";
    let helper = "def tokenize(t):\n    return t.split()\n";
    let program = taken(file, Language::Python, "f", &format!("{body}\n\n{helper}"));
    assert_eq!(program, format!("{helper}\n\n{body}"));
    // A function of another block that the body gives to a call.
    let body = "def f(t):\n    return sorted(t, key=place)\n";
    let helper = "def place(t):\n    return -t\n";
    let said = format!("```python\n{body}```\nwhere `place` is:\n```python\n{helper}```\n");
    assert_eq!(taken_as_said(file, Language::Python, "f", &said).0, format!("{helper}\n\n{body}"));
    let answer = "from math import *\nfrom math import floor\n\ndef f(t):\n    return floor(t) + sqrt(t) + odd_of(t)\n";
    assert_eq!(taken(file, Language::Python, "f", answer), answer.replace("\n\ndef", "\n\n\ndef"));
}

#[test]
fn decorators_of_an_inner_function_come_along() {
    let file = "import functools\n\n\ndef outer(g):\n    def f(*args):\n        pass\n    return f\n";
    let answer = "@cached\ndef outer(g):\n    @functools.wraps(g)\n    # As it is.\n    @other\n    def f(*args):\n        return g(*args)\n    return f\n";
    let wanted =
        "import functools\n\n\ndef outer(g):\n    @other\n    def f(*args):\n        return g(*args)\n    return f\n";
    assert_eq!(taken(file, Language::Python, "outer.f", answer), wanted);
    let answer = answer.replace("    # As it is.\n", "");
    let wanted = wanted.replace("    @other", "    @functools.wraps(g)\n    @other");
    assert_eq!(taken(file, Language::Python, "outer.f", &answer), wanted);
}

#[test]
fn a_type_in_angles_is_no_body() {
    let file = "export function f<T extends { id: string }>(all: T[]): Map<string, T> {\n}\n";
    let body = "export function f<T extends { id: string }>(all: T[]): Map<string, T> {\n  const seen = new Map<string, T>();\n  return seen;\n}\n";
    assert_eq!(taken(file, Language::TypeScript, "f", body), body);
    // Types behind a comma are used.
    let file = "export function f(all: string[]): unknown {\n}\n";
    let body = "export function f(all: string[]): unknown {\n  const one: Map<string, Entry> = new Map();\n  const two = new Map<string, Slot[]>(), three = 1;\n  return [one, two, three];\n}\n";
    let types = "interface Entry {\n  n: number;\n}\n\ntype Slot = { n: number };\n\ntype three = string;\n\n";
    let wanted = format!("{}{body}", types.replace("type three = string;\n\n", ""));
    assert_eq!(taken(file, Language::TypeScript, "f", &format!("{types}{body}")), wanted);
}

#[test]
fn members_of_a_decorated_class_come_along() {
    let file = "@Injectable()\nexport class A {\n  f(n: number): number {\n    return 0;\n  }\n}\n";
    let answer = "import { Logger } from '@nestjs/common';\n\n@Injectable()\nexport class A {\n  private readonly log = new Logger(A.name);\n\n  constructor(\n    private readonly n: number,\n  ) {}\n\n  f(n: number): number {\n    this.log.warn(n);\n    return this.g(n);\n  }\n\n  private g(n: number): number {\n    return n;\n  }\n}\n";
    let wanted = "import { Logger } from '@nestjs/common';\n\n@Injectable()\nexport class A {\n  private readonly log = new Logger(A.name);\n\n  private g(n: number): number {\n    return n;\n  }\n\n  f(n: number): number {\n    this.log.warn(n);\n    return this.g(n);\n  }\n}\n";
    assert_eq!(taken(file, Language::TypeScript, "A.f", answer), wanted);
}

#[test]
fn an_associated_function_of_a_type_with_arguments_is_awaited() {
    let file = "pub struct M<const N: usize>([f64; N]);\n\nimpl<const N: usize> M<N> {\n    pub fn f(&self) -> Self {\n        todo!()\n    }\n}\n";
    let own = "impl<const N: usize> M<N> {\n    pub fn f(&self) -> Self {\n        M::<N>::zero()\n    }\n}\n";
    let helper = "impl<const N: usize> M<N> {\n    pub fn zero() -> Self {\n        M([0.0; N])\n    }\n}\n";
    let program = taken(file, Language::Rust, "M.f", &format!("{own}\n{helper}"));
    assert!(program.contains("M::<N>::zero()") && program.contains("pub fn zero() -> Self"), "{program}");
    // Methods without their type, as they stand in it.
    let file = "impl A {\n    pub fn f(&self) -> u8 {\n        todo!()\n    }\n}\n";
    let bare = "    pub fn f(&self) -> u8 {\n        self.g()\n    }\n\n    fn g(&self) -> u8 {\n        1\n    }\n";
    let wanted = "impl A {\n    fn g(&self) -> u8 {\n        1\n    }\n\n    pub fn f(&self) -> u8 {\n        self.g()\n    }\n}\n";
    assert_eq!(taken(file, Language::Rust, "A.f", bare), wanted);
}

#[test]
fn types_and_values_of_other_blocks_come_along() {
    for (language, file, body, other) in [
        (
            Language::Go,
            "package p\n\nfunc F(s string) error {\n\treturn nil\n}\n",
            "func F(s string) error {\n\tif pattern.MatchString(s) {\n\t\treturn &Fault{s}\n\t}\n\treturn nil\n}\n",
            "import \"regexp\"\n\nvar pattern = regexp.MustCompile(`a`)\n\ntype Fault struct{ s string }\n\nfunc (f *Fault) Error() string { return f.s }\n",
        ),
        (
            Language::Rust,
            "pub fn f(n: u8) -> u8 {\n    todo!()\n}\n",
            "pub fn f(n: u8) -> u8 {\n    let bag = Bag { n };\n    Some(bag.n).map(twice).unwrap_or(0)\n}\n",
            "struct Bag {\n    n: u8,\n}\n\nfn twice(n: u8) -> u8 {\n    n * 2\n}\n",
        ),
        (
            Language::TypeScript,
            "export function f(n: number): number {\n}\n",
            "export function f(n: number): number {\n  const one: Entry = { n };\n  return one.n + Kind.A;\n}\n",
            "interface Entry {\n  n: number;\n}\n\nenum Kind {\n  A,\n}\n",
        ),
    ] {
        let name = language.name();
        let function = if language == Language::Go { "F" } else { "f" };
        for said in [
            format!("First:\n```{name}\n{other}```\nThen:\n```{name}\n{body}```\n"),
            format!("```{name}\n{body}```\nwith\n```{name}\n{other}```\nDone.\n"),
        ] {
            let (program, _) = taken_as_said(file, language, function, &said);
            for line in other.lines().chain(body.lines()) {
                assert!(program.contains(line.trim_start_matches("import ")), "{line}\n{program}");
            }
        }
    }
}

#[test]
fn parameters_of_another_head_are_made_of_those_of_the_file() {
    for (language, file, head, body, statements) in [
        (
            Language::JavaScript,
            "function f(options) {\n}\n",
            "function f({ a = 1, b, of = (x) => x } = {}) {\n",
            "  return of(a + b);\n",
            "  const { a = 1, b, of = (x) => x } = options === undefined ? {} : options;\n",
        ),
        (
            Language::JavaScript,
            "function f(props) {\n}\n",
            "function f({ a, b: c }) {\n",
            "  return a + c;\n",
            "  const { a, b: c } = props;\n",
        ),
        (
            Language::JavaScript,
            "function f(all, by) {\n}\n",
            "function f(all, by = (a, b) => a - b) {\n",
            "  return all.sort(by);\n",
            "  if (by === undefined) by = (a, b) => a - b;\n",
        ),
        (
            Language::JavaScript,
            "function f(all) {\n}\n",
            "function f(all, by = (a, b) => (a < b ? -1 : 1), more = ['),']) {\n",
            "  return all.sort(by).concat(more);\n",
            "  let by = (a, b) => (a < b ? -1 : 1);\n  let more = ['),'];\n",
        ),
        (
            Language::JavaScript,
            "function f({ all, by }) {\n}\n",
            "function f({ all = [], by }) {\n",
            "  return all.map(by);\n",
            "  if (all === undefined) all = [];\n",
        ),
        (
            Language::JavaScript,
            "function f({ a, b }) {\n}\n",
            "function f(props) {\n",
            "  return props.a;\n",
            "  const props = { a, b };\n",
        ),
        (
            Language::TypeScript,
            "function f(ms: number): string {\n}\n",
            "function f(n: number, options: { max?: number } = {}, ...more: Map<string, number>[]): string {\n",
            "  return n + options.max + more;\n",
            "  let n = ms;\n  let options: { max?: number } = {};\n  let more: Map<string, number>[] = [];\n",
        ),
        (
            Language::Python,
            "def f(a, /, b, *, c=1):\n    pass\n",
            "def f(x, /, b, *, c=1, d='(,'):\n",
            "    return x + b + c + d\n",
            "    x = a\n    d = '(,'\n",
        ),
        (
            Language::Rust,
            "fn f<'a>(p: (u8, &'a str)) -> u8 {\n}\n",
            "fn f<'a>((a, b): (u8, &'a str)) -> u8 {\n",
            "    a\n",
            "    let (a, b) = p;\n",
        ),
    ] {
        let close = if language == Language::Python { "" } else { "}\n" };
        let program = taken(file, language, "f", &format!("{head}{body}{close}"));
        assert!(program.ends_with(&format!("\n{statements}{body}{close}")), "{program}");
    }
}

#[test]
fn comments_of_the_stub_are_not_said_twice() {
    let file = "def f(n):\n    # Twice,\n    # and more.\n    raise NotImplementedError\n";
    let answer = file.replace("raise NotImplementedError", "return n * 2");
    assert_eq!(taken(file, Language::Python, "f", &answer), answer);
    let other = "def f(n):\n    # Twice,\n    # or less.\n    return n\n";
    let program = taken(file, Language::Python, "f", other);
    assert_eq!(
        program,
        file.replace("    raise NotImplementedError\n", "    # Twice,\n    # or less.\n    return n\n")
    );
    let file = "function f(n) {\n  // Twice.\n  throw new Error('todo');\n}\n";
    let answer = file.replace("throw new Error('todo')", "return n * 2");
    assert_eq!(taken(file, Language::JavaScript, "f", &answer), answer);
}

#[test]
fn results_have_the_names_that_the_answer_gives_them() {
    let file = "package p\n\nfunc (s *S) F(n int) (int, error) {\n\treturn 0, nil\n}\n";
    let body =
        "\tdefer func() {\n\t\tif r := recover(); r != nil {\n\t\t\terr = fault\n\t\t}\n\t}()\n\ttotal = n\n\treturn\n";
    let answer = format!("func (s *S) F(n int) (total int, err error) {{\n{body}}}\n\nvar fault = error(nil)\n");
    let wrapped = body.replace("\n\t", "\n\t\t");
    let wanted = format!(
        "package p\n\nvar fault = error(nil)\n\nfunc (s *S) F(n int) (int, error) {{\n\treturn func() (total int, err error) {{\n\t{wrapped}\t}}()\n}}\n"
    );
    assert_eq!(taken(file, Language::Go, "S.F", &answer), wanted);
    // Other types are another function.
    let plain = "func (s *S) F(n int) (total int64, err error) {\n\treturn 1, nil\n}\n";
    assert_eq!(taken(file, Language::Go, "S.F", plain), file.replace("return 0, nil", "return 1, nil"));
}

#[test]
fn calls_in_comments_and_docstrings_are_no_heads() {
    let cases = [
        (
            Language::Python,
            "def f(x):\n    \"\"\"Doc.\n\n    >>> f(2)\n    4\n    \"\"\"\n    # f(3) is 6\n    pass\n",
            "def f(n):\n    return 2 * n\n",
            "    n = x\n    return 2 * n\n",
        ),
        (
            Language::Python,
            "def f(x):\n    \"\"\"f(2) is 4.\"\"\"\n",
            "def f(x):\n    return 2 * x\n",
            "    return 2 * x\n",
        ),
        (
            Language::Rust,
            "/// `f(2)`\n/// assert_eq!(f(3), 6);\nfn f(x: u8) -> u8 {\n    // f(4)\n    todo!()\n}\n",
            "/// f(9)\nfn f(x: u8) -> u8 {\n    2 * x\n}\n",
            "    2 * x\n",
        ),
        (
            Language::Go,
            "package p\n\n// f(1) is 2.\nfunc f(x int) int { // f(3)\n}\n",
            "func f(n int) int {\n\treturn 2 * n\n}\n",
            "\tn := x\n\treturn 2 * n\n",
        ),
        (
            Language::JavaScript,
            "/** f(2) === 4 */\nfunction f(x /* f(3) */) {\n}\n",
            "function f(x) {\n  return x;\n}\n",
            "  return x;\n",
        ),
    ];
    for (language, file, answer, body) in cases {
        let program = taken(file, language, "f", answer);
        assert!(
            program.contains(&format!("\n{body}")) && !program.contains("= 2") && !program.contains("= 3"),
            "{program}"
        );
    }
}

#[test]
fn comments_that_ask_for_the_body_go_with_it() {
    let python = |comment: &str| format!("def f(x):\n    \"\"\"Doc.\"\"\"\n{comment}    pass\n\n\nTOP = 1\n");
    let done = |comment: &str| python(comment).replace("pass", "return 2 * x");
    let answer = "def f(x):\n    return 2 * x\n";
    for asks in [
        "    # TODO\n", "    # TODO: twice x\n    # for all x\n", "    # your code here\n", "    # ...\n",
        "    # Implement me!\n", "    # FIXME(me): not there\n", "    # Not implemented yet.\n",
        "    # write your code\n",
    ] {
        assert_eq!(taken(&python(asks), Language::Python, "f", answer), done(""), "{asks}");
        // An answer may repeat them.
        let repeated = answer.replace("    return", &format!("{asks}    return"));
        assert_eq!(taken(&python(asks), Language::Python, "f", &repeated), done(""), "{asks}");
    }
    for tells in [
        "    # Twice x.\n",
        "    # the todo list\n",
        "    # Todos are shown\n",
        "    # The error code here is 4.\n",
        "    # Checks your code by its digits.\n",
        "    #\n",
        "    #:\n",
        "    # !\n",
    ] {
        assert_eq!(taken(&python(tells), Language::Python, "f", answer), done(tells), "{tells}");
    }
    let two = "    # TODO: one\n    # TODO: two\n";
    assert_eq!(taken(&python(two), Language::Python, "f", answer), done(""));
    let both = "    # Twice x.\n    # TODO\n";
    assert_eq!(taken(&python(both), Language::Python, "f", answer), done("    # Twice x.\n"));
    // The model is shown them.
    assert!(target(&python("    # TODO: twice x\n"), Language::Python, "f").prompt().contains("# TODO: twice x"));
    // A file may end with them.
    for file in ["def f(x):\n    # TODO", "def f(x):\n    # TODO: caf\u{e9}"] {
        assert_eq!(taken(file, Language::Python, "f", answer), "def f(x):\n    return 2 * x");
    }
    let others = [
        (Language::JavaScript, "function f(x) {\n  // TODO\n}\n", "function f(x) {\n  return x;\n}\n"),
        (Language::Rust, "fn f(x: u8) -> u8 {\n    // TODO: x\n    todo!()\n}\n", "fn f(x: u8) -> u8 {\n    x\n}\n"),
        (
            Language::Go,
            "package p\n\nfunc F(x int) int {\n\t// TODO: implement\n\tpanic(\"not implemented\")\n}\n",
            "package p\n\nfunc F(x int) int {\n\treturn x\n}\n",
        ),
    ];
    for (language, file, wanted) in others {
        let name = if language == Language::Go { "F" } else { "f" };
        assert_eq!(taken(file, language, name, wanted), wanted);
    }
}

#[test]
fn an_answer_may_be_a_patch_of_the_file() {
    let file = "import json\nimport os\n\n\ndef load(path):\n    \"\"\"Doc.\n\n    More.\n    \"\"\"\n    raise NotImplementedError\n\n\ndef save(path):\n    os.remove(path)\n";
    let body = "    with open(path, \"rb\") as f:\n        return tomllib.load(f)\n";
    let wanted =
        file.replace("import os\n", "import os\nimport tomllib\n").replace("    raise NotImplementedError\n", body);
    let plus = body.replace("    with", "+    with").replace("        return", "+        return");
    let hunks = format!(
        "@@ -1,2 +1,3 @@\n import json\n import os\n+import tomllib\n \n@@ -8,4 +9,5 @@ def load(path):\n     More.\n     \"\"\"\n-    raise NotImplementedError\n{plus}"
    );
    let patches = [
        format!("```diff\n--- a/app/settings.py\n+++ b/app/settings.py\n{hunks}```\n"),
        // Without its headers, or in a block of code.
        format!("```patch\n{hunks}```\n"),
        format!("```python\n{hunks}```\n"),
        // Lines without the space in front, and a blank one at the end.
        format!("```diff\n{}\n\n```\n", hunks.replace("\n     ", "\n    ") + "\n\n\n"),
        // Whatever it changes elsewhere.
        format!(
            "```diff\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-def load(path):\n+def load():\n--- a/settings.py\n+++ b/settings.py\n{hunks}```\n"
        ),
        format!(
            "```diff\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-import json\n+import yaml\n```\nAnd:\n```diff\n{hunks}```\n"
        ),
    ];
    for patch in patches {
        let (program, _) = taken_as_said(file, Language::Python, "load", &patch);
        assert_eq!(program, wanted, "{patch}");
    }
    // One of another text is read as its new lines.
    let other =
        "```diff\n@@ -4,3 +4,4 @@\n def load(path):\n-    return None\n+    return json.load(open(path))\n```\n";
    let (program, _) = taken_as_said(file, Language::Python, "load", other);
    assert_eq!(program, file.replace("raise NotImplementedError", "return json.load(open(path))"));
}

#[test]
fn an_import_whose_name_the_file_has_for_another_thing_stands_in_the_function() {
    let stub = "def f(s):\n    \"\"\"Doc.\"\"\"\n    ...\n";
    let body = |body: &str| format!("def f(s):\n    \"\"\"Doc.\"\"\"\n    {body}\n");
    for (own, new, code, inside) in [
        ("import datetime", "from datetime import datetime", "return datetime.now()", "from datetime import datetime"),
        ("from datetime import datetime", "import datetime", "return datetime.date(s)", "import datetime"),
        ("import time", "from time import sleep, time", "return int(time() - s)", "from time import time"),
        ("def dumps(s):\n    return s", "from json import dumps", "return dumps(s)", "from json import dumps"),
        // The file's own are what the answer means.
        ("from .utils import load", "from utils import load", "return load(s)", ""),
        ("from collections.abc import Iterable", "from typing import Iterable", "return isinstance(s, Iterable)", ""),
        ("def load(s):\n    return s", "from mod import load", "return load(s)", ""),
        ("import os.path", "import os", "return os.sep", ""),
        ("try:\n    import ujson as json\nexcept ImportError:\n    import json", "import json", "return json", ""),
        (
            "import typing\nif typing.TYPE_CHECKING:\n    from decimal import Context, Decimal",
            "from decimal import Decimal",
            "return Decimal(s)",
            "from decimal import Decimal",
        ),
        ("import typing\nif typing.TYPE_CHECKING:\n    from a import B", "", "b: B = s.b\n    return b", ""),
    ] {
        let inside = if inside.is_empty() { String::new() } else { format!("{inside}\n    ") };
        let wanted = format!("{own}\n\n\n{}", body(&format!("{inside}{code}")));
        let program = taken_as_said(
            &format!("{own}\n\n\n{stub}"),
            Language::Python,
            "f",
            &format!("```python\n{new}\n\n{}```\n", body(code)),
        );
        assert_eq!(program.0, wanted);
    }
    let file = "import datetime\n\n\ndef f(s):\n    pass\n";
    let helper = "def parsed(s):\n    return datetime.strptime(s, '%Y')\n";
    let answer = format!("from datetime import datetime\n\n{helper}\ndef f(s):\n    return parsed(s)\n");
    let wanted = "import datetime\n\n\ndef f(s):\n    from datetime import datetime\n    def parsed(s):\n        return datetime.strptime(s, '%Y')\n    return parsed(s)\n";
    assert_eq!(taken(file, Language::Python, "f", &answer), wanted);
    let stub = "export function f(n) {\n}\n";
    let answer = "import path from 'node:path';\n\nexport function f(n) {\n  return path.parse(n).name;\n}\n";
    for (own, wanted) in [
        (
            "import { join } from 'node:path';\n\nconst path = join('a');\n",
            "import { join } from 'node:path';\nimport importedPath from 'node:path';\n\nconst path = join('a');\n",
        ),
        ("import path from './path.js';\n", "import importedPath from 'node:path';\nimport path from './path.js';\n"),
    ] {
        let said = format!("```js\n{answer}```\n");
        let program = taken_as_said(&format!("{own}\n{stub}"), Language::JavaScript, "f", &said).0;
        let code = "export function f(n) {\n  const path = importedPath;\n  return path.parse(n).name;\n}\n";
        assert_eq!(program, format!("{wanted}\n{code}"));
    }
    let said = format!("```js\n{answer}```\n").replace("export ", "");
    let program = taken_as_said("const path = 'a';\n\nfunction f(n) {\n}\n", Language::JavaScript, "f", &said).0;
    assert!(program.starts_with("import importedPath from 'node:path';\n"), "{program}");
    assert!(program.contains("{\n  const path = importedPath;\n  return"), "{program}");
    let file = "const path = 'a';\n\nfunction f(n) {\n}\nmodule.exports = { f };\n";
    let answer = "const path = require('path');\n\nfunction f(n) {\n  return path.parse(n);\n}\n";
    let wanted = file.replace("{\n}", "{\n  const path = require('path');\n  return path.parse(n);\n}");
    assert_eq!(taken(file, Language::JavaScript, "f", answer), wanted);
}

#[test]
fn a_private_helper_that_is_another_one_than_the_file_s_stands_in_the_function() {
    let file = "def _key(x):\n    return -x\n\n\ndef f(xs):\n    pass\n";
    let answer =
        "def _key(x):\n    \"\"\"Digit.\"\"\"\n    return x % 10\n\ndef f(xs):\n    return sorted(xs, key=_key)\n";
    let wanted = "def _key(x):\n    return -x\n\n\ndef f(xs):\n    def _key(x):\n        \"\"\"Digit.\"\"\"\n        return x % 10\n    return sorted(xs, key=_key)\n";
    assert_eq!(taken(file, Language::Python, "f", answer), wanted);
    for own in ["return  -x", "pass", "...  # as it is"] {
        let program = taken(file, Language::Python, "f", &answer.replace("return x % 10", own));
        assert_eq!(program, file.replace("pass", "return sorted(xs, key=_key)"), "{own}");
    }
    let file = "function _key(x) {\n  return -x;\n}\n\nfunction f(xs) {\n}\n";
    let answer = "function _key(x) {\n  return x % 10;\n}\n\nfunction f(xs) {\n  return xs.map(_key);\n}\n";
    let wanted = "function _key(x) {\n  return -x;\n}\n\nfunction f(xs) {\n  function _key(x) {\n    return x % 10;\n  }\n  return xs.map(_key);\n}\n";
    assert_eq!(taken(file, Language::JavaScript, "f", answer), wanted);
}

#[test]
fn a_lambda_and_a_default_export_without_a_name_are_the_function() {
    let file = "def f(x):\n    pass\n";
    let said =
        "```python\nimport math\n\nf = lambda y, k={'a': 1}: math.ceil(\n    y * 2)  # twice\n\nprint(f(1))\n```\n";
    let wanted = "import math\n\n\ndef f(x):\n    y = x\n    return math.ceil(\n        y * 2)  # twice\n";
    assert_eq!(taken_as_said(file, Language::Python, "f", said).0, wanted);
    let file = "export default function f(xs) {\n}\n";
    for (answer, body) in [
        ("export default (all) => all.map((x) => x * 2);\n", "  let all = xs;\n  return all.map((x) => x * 2);\n"),
        ("export default (xs) => {\n  return xs.map((x) => x);\n};\n", "  return xs.map((x) => x);\n"),
    ] {
        let program = taken_as_said(file, Language::JavaScript, "f", &format!("```js\n{answer}```\n")).0;
        assert_eq!(program, file.replace("}\n", &format!("{body}}}\n")));
    }
}
