//! The function in a chat model's answer: fences, prose, thoughts, whole files, cut ends.

use bass_tui::code::{Place, RequestedFunction, Target};
use bass_tui::language::Language;
use proptest::prelude::*;

const STUB: &str = "import math\n\ndef area(r):\n    \"\"\"Area of a circle.\"\"\"\n";
const BODY: &str = "    if r < 0:\n        raise ValueError(r)\n    return math.pi * r * r\n";

fn target(text: &str, language: Language, name: &str) -> Target {
    Target::in_text(text, language, &Place::Function(name.to_owned())).unwrap()
}

fn python() -> RequestedFunction {
    target(STUB, Language::Python, "area").requested()
}

/// The function with its head at an indentation.
fn function(indent: &str) -> String {
    let head = "def area(r):\n    \"\"\"Area of a circle.\"\"\"\n";
    format!("{head}{BODY}").lines().map(|line| [indent, line, "\n"].concat()).collect()
}

/// The function as read when all of the answer is there.
fn whole(function: &RequestedFunction, answer: &str) -> String {
    function.read(answer, true).0.trim_end().to_owned() + "\n"
}

/// Thoughts of gpt-oss, with a function.
const ANALYSIS: &str =
    "<|channel|>analysis<|message|>We need the body.\n```python\ndef area(r):\n    return 3 * r * r\n```\nDone.";

#[test]
fn the_body_is_found_in_whatever_is_around_it() {
    let f = function("");
    let dedented: String = BODY.lines().map(|line| line[4..].to_owned() + "\n").collect();
    let deeper: String = BODY.lines().map(|line| ["    ", line, "\n"].concat()).collect();
    let two: String = f.lines().map(|l| l.replacen("    ", "  ", 2) + "\n").collect();
    let tabs: String = f.lines().map(|l| l.replace("    ", "\t") + "\n").collect();
    let answers = [
        f.clone(),
        BODY.to_owned(),
        format!("```python\n{f}```"),
        format!("```python\n{f}"),
        format!("~~~~\n{f}~~~~\n"),
        format!("```py\r\n{}```", f.replace('\n', "\r\n")),
        format!(
            "Sure! Here's `area`, as asked:\n\n```python\n{f}```\n\nIt's simple:\n```python\nprint(area(2))\n```\n"
        ),
        format!("First an example:\n```python\nprint(area(2))\n```\nand then:\n```python\n{f}```\n"),
        format!("The stub was:\n```python\ndef area(r):\n    ...\n```\nThis is it:\n```python\n{f}```\n"),
        format!("Run it:\n```bash\n    python3 x.py\n```\n```\n{f}```\n"),
        format!("1. So:\n   ```python\n{}   ```\n2. Done.\n", function("   ")),
        format!("```python\nimport math\n\nPI = 3\n\n{f}\n\nif __name__ == '__main__':\n    print(area(2))\n```\n"),
        format!("```python\nclass Circle:\n{}\n    def other(self):\n        pass\n```\n", function("    ")),
        format!("```python\n{BODY}```\n"),
        format!("```python\n{dedented}```\n"),
        format!("```python\n{deeper}```\n"),
        format!("```python\n{two}```\n"),
        format!("```python\n{tabs}```\n"),
        format!("```python\n{}```\n", f.replace("area", "circle_area")),
        format!("<think>\nMaybe\n```python\ndef area(r):\n    return 3 * r\n```\n</think>\n\n```python\n{f}```\n"),
        format!("Maybe\n```python\ndef area(r):\n    return 3\n```\n</think>\n```python\n{f}```\n"),
        format!("Here you go:\n\n{f}\nThis computes the area."),
        format!("<|channel>thought\nMaybe\n```python\ndef area(r):\n    return 3\n```\n<channel|>```python\n{f}```"),
        format!("<|channel>thought\n<channel|>{f}"),
        format!("{ANALYSIS}<|end|><|start|>assistant<|channel|>final<|message|>```python\n{f}```<|return|>"),
        format!("{ANALYSIS}<|end|><|start|>assistant<|channel|>final<|message|>{f}"),
        format!(
            "{ANALYSIS}<|end|><|start|>assistant<|channel|>commentary to=f <|constrain|>json<|message|>{{}}<|call|>\
             <|start|>assistant<|channel|>final<|message|>Sure:\n```python\n{f}```\n"
        ),
        format!("<|channel|>final<|message|>{f}<|return|>"),
        format!("<seed:think>\n```python\ndef area(r):\n    return 3\n```\n</seed:think>\n{f}"),
    ];
    for answer in &answers {
        assert_eq!(whole(&python(), answer), BODY, "{answer}");
    }
    // Not said to its end.
    let cut = &answers[6][..answers[6].find(" * r * r").unwrap()];
    assert_eq!(whole(&python(), cut), BODY.replace(" * r * r", ""));
    for thoughts in [ANALYSIS, &format!("{ANALYSIS}<|end|><|start|>assistant<|channel|>fin")] {
        assert_eq!(python().read(thoughts, true), (String::new(), false), "{thoughts}");
    }
    for nothing in [
        "",
        ANALYSIS,
        "<|channel>thought\ndef area(r):\n    return 1\n",
        "<think>\nWell, ```python\ndef area(r):\n    return 1\n",
        "```python\n",
        "```python\ndef area(",
    ] {
        assert_eq!(python().read(nothing, false), (String::new(), false), "{nothing}");
    }
    assert_eq!(whole(&python(), "def area(r): return math.pi"), "    return math.pi\n");
}

#[test]
fn imports_that_the_function_needs_come_behind_it() {
    let answer = "```python\nfrom __future__ import annotations\nimport math\nfrom typing import (\n    Any,\n)\nimport re\n\ndef area(r):\n    return re, Any\n```";
    assert_eq!(whole(&python(), answer), "    return re, Any\n\nfrom typing import (\n    Any,\n)\nimport re\n");
}

#[test]
fn a_method_gets_the_indentation_of_its_class() {
    let file =
        "class Stack:\n    def push(self, x):\n        \"\"\"Adds x.\"\"\"\n\n    def pop(self):\n        return 1\n";
    let function = target(file, Language::Python, "Stack.push").requested();
    let body = "        if x:\n            self.all.append(x)\n";
    let alone = "```python\ndef push(self, x):\n    \"\"\"Adds x.\"\"\"\n    if x:\n        self.all.append(x)\n\nStack().push(1)\n```";
    let class = "```python\nclass Queue:\n  def push(self, x):\n    pass\n\nclass Stack:\n  def push(self, x):\n    if x:\n      self.all.append(x)\n\n  def pop(self):\n    return 2\n```";
    for answer in [alone, class, "def push(self, x):\n    if x:\n        self.all.append(x)\n", body] {
        assert_eq!(whole(&function, answer), body, "{answer}");
    }
}

#[test]
fn lines_that_are_there_are_not_written_again() {
    let job = target("def f(x):\n    pass\n", Language::Python, "f");
    // Without a file all of the text is the function that is open at its end.
    let open = bass_tui::code::open_function("def f(x):\n    y = x\n    z = y\n").unwrap().requested();
    assert_eq!(open.typed, "    y = x\n    z = y\n");
    assert_eq!(whole(&open, "```python\ndef f(x):\n    y = x\n    z = y\n    return z\n```"), "    return z\n");
    assert_eq!(open.read("```python\ndef f(x):\n    y = x\n", false), (String::new(), false));
    assert_eq!(whole(&open, "```python\n    return z\n```"), "    return z\n");
    assert!(job.requested().typed.is_empty());
}

#[test]
fn languages_with_braces_are_read_as_well() {
    let cases = [
        (
            Language::Rust,
            "fn area(r: f64) -> f64 {\n",
            "use std::f64;\n\n/// Area.\nfn area(r: f64) -> f64 {\n  let s = '}';\n  if r < 0.0 {\n    return 0.0;\n  }\n  r\n}\n\n#[test]\nfn t() {}\n",
            "    let s = '}';\n    if r < 0.0 {\n        return 0.0;\n    }\n    r\n}\n",
        ),
        (
            Language::Go,
            "package p\n\nfunc area(r int) int {\n",
            "package p\n\nfunc area(r int) int {\n\treturn r // }\n}\n",
            "\treturn r // }\n}\n",
        ),
        (Language::JavaScript, "function area(r) {\n", "const area = (r) => {\n  return r;\n};\n", "  return r;\n}\n"),
        (Language::JavaScript, "function area(r) {\n", "const area = (r) => r * 2;\n", "  return r * 2;\n"),
        (
            Language::TypeScript,
            "export function area(r: number): number {\n",
            "export function area(r: number): number {\n    return r;\n}\n",
            "  return r;\n}\n",
        ),
        (Language::Rust, "fn area(r: f64) -> f64 {\n", "fn area(r: f64) -> f64 { r }", "    r }\n"),
        (Language::Rust, "fn area(r: f64) -> f64 {\n", "    r * 2.0\n", "    r * 2.0\n"),
        (Language::Rust, "fn area(r: f64) -> f64 {\n", "    r * 2.0\n}\nfn other() {}", "    r * 2.0\n}\n"),
    ];
    for (language, file, code, body) in cases {
        let target = target(file, language, "area");
        for answer in [format!("Here's it:\n```{}\n{code}```\nThat's all.", language.name()), code.to_owned()] {
            if answer == code && code.starts_with(' ') && code.ends_with("{}") {
                continue;
            }
            let read = whole(&target.requested(), &answer);
            let (read, body) = (target.completion(&read), target.completion(body));
            assert_eq!(
                read.replace("return r * 2;", "return r * 2"),
                body.replace("return r * 2;", "return r * 2"),
                "{answer}"
            );
        }
    }
}

#[test]
fn a_candidate_ends_with_its_function() {
    let f = function("");
    let after = format!("Well:\n```python\n{f}\n\nprint(area(2))\n");
    let (text, ended) = python().read(&after, false);
    assert!(ended && text.trim_end() == BODY.trim_end(), "{text}");
    let (text, ended) = python().read(&format!("Well:\n```python\n{f}"), false);
    assert!(!ended && text == BODY, "{text}");
    assert!(python().read(&format!("Well:\n```python\n{f}```\n"), false).1);
}

/// An answer that is read line by line ends with all that the function needs.
#[test]
fn what_comes_with_a_function_is_read_to_its_end() {
    let after = [
        (
            Language::Python,
            "def g(x):\n    # A note.\n    if x:\n        return 1\n    # Another.\n    else:\n        # One more.\n        return 2\n",
        ),
        (Language::Python, "def g(x):\n\n    y = 1\n# At the margin.\n\n    return y\n"),
        (
            Language::Python,
            "class g:\n    # A note.\n\n    def __init__(self, x):\n        # A note.\n        self.x = x\n\n    # Of the next.\n    def __len__(self):\n        return 1\n",
        ),
        (Language::Python, "def g(x):\n    return h(x)\n\n# Of the next.\ndef h(x):\n    # A note.\n    return x\n"),
        (Language::Python, "@functools.cache\n# A note.\ndef g(x):\n    # A note.\n    return x\n"),
        (Language::Python, "g = {\n    # A note.\n    1: 2,\n    # Another.\n}.get\n"),
        (
            Language::Python,
            "try:\n    # A note.\n    from a import g\nexcept ImportError:\n    # Another.\n    g = None\n",
        ),
        (
            Language::JavaScript,
            "function g(x) {\n  // A note.\n  if (x) {\n    /* Another. */\n    return 1;\n  }\n  // One more.\n  return 2;\n}\n",
        ),
        (Language::JavaScript, "const g = (x) =>\n  // A note.\n  x + 1;\n"),
        (Language::JavaScript, "class g {\n  // A note.\n\n  get() {\n    return 1;\n  }\n}\n"),
        (
            Language::Go,
            "func g(x int) int {\n\t// A note.\n\tif x > 0 {\n\t\treturn 1\n\t}\n\t// Another.\n\treturn 2\n}\n",
        ),
        (Language::Go, "type g struct {\n\t// A note.\n\tx int\n\n\t// Another.\n\ty int\n}\n"),
        (
            Language::Rust,
            "fn g(x: i32) -> i32 {\n    // A note.\n    if x > 0 {\n        1\n    } else {\n        // Another.\n        2\n    }\n}\n",
        ),
        (
            Language::Rust,
            "#[inline]\n// A note.\nconst fn g(\n    // A note.\n    x: i32,\n) -> i32 {\n    // Another.\n    x\n}\n",
        ),
    ];
    for (language, helper) in after {
        let (head, stub) = match language {
            Language::Python => ("def area(r):\n    return g(r)\n", "def area(r):\n"),
            Language::Go => ("func area(r int) int {\n\treturn g(r)\n}\n", "package p\n\nfunc area(r int) int {\n"),
            Language::Rust => ("fn area(r: i32) -> i32 {\n    g(r)\n}\n", "fn area(r: i32) -> i32 {\n"),
            _ => ("function area(r) {\n  return g(r);\n}\n", "function area(r) {\n"),
        };
        let function = target(stub, language, "area").requested();
        let name = language.name();
        for answer in [
            format!("```{name}\n{head}\n{helper}\nlast = 1\n```\n"),
            format!("```{name}\n{helper}\n{head}\nlast = 1\n```\n"),
        ] {
            let all = function.read(&answer, true).0;
            let ends = answer.match_indices('\n').map(|(at, _)| function.read(&answer[..=at], false));
            let (text, _) = ends.into_iter().find(|(_, ended)| *ended).unwrap_or_else(|| panic!("no end: {answer}"));
            assert_eq!(text.trim_end(), all.trim_end(), "{answer}");
            assert!(helper.lines().all(|line| line.trim().is_empty() || all.contains(line)), "{answer}\n{all}");
        }
    }
}

/// Pieces of answers.
const PIECES: &[&str] = &[
    "```python\n", "```\n", "~~~\n", "```", "def area(r):\n", "    \"\"\"Area of a circle.\"\"\"\n", "    \"\"\"\n",
    "    return r\n", "        x = 1\n", "import re\n", "So, it's:\n", "<think>", "</think>\n", "<|channel>thought\n",
    "<channel|>", "<|channel|>analysis", "<|channel|>final", "<|message|>", "<|end|>", "<|start|>assistant",
    "<|return|>", "class A:\n", "    def area(self):\n", "\n", "  ", "(", "'", "\t", "def area(r): return 1\n", "é\n",
    "}\n", "fn area() {\n", "# note\n", "area ", "    y = x\n",
];

proptest! {
    /// Whatever is said, it is read, and what ends a candidate is what the whole says.
    #[test]
    fn whatever_is_said_is_read(picks in proptest::collection::vec(0..PIECES.len(), 0..28), language in 0usize..5) {
        let answer: String = picks.iter().map(|&pick| PIECES[pick]).collect();
        let function = RequestedFunction { language: Language::ALL[language], ..python() };
        for (at, _) in answer.match_indices('\n') {
            let (text, ended) = function.read(&answer[..=at], false);
            if ended {
                let (whole, _) = function.read(&answer[..=at], true);
                prop_assert_eq!(text.trim_end(), whole.trim_end());
            }
        }
        function.read(&answer, true);
    }
}

/// What stands behind a block that has ended does not open it again.
#[test]
fn a_block_without_an_end_changes_none_before_it() {
    let answer = "```\n    y = x\n```def area(r):\n```\n```\n```python\n```python\n";
    let function = RequestedFunction { language: Language::JavaScript, ..python() };
    let ends = answer.match_indices('\n').map(|(at, _)| function.read(&answer[..=at], false)).find(|read| read.1);
    let (text, _) = ends.expect("an end");
    assert_eq!(function.read(answer, true).0.trim_end(), text.trim_end());
}

#[test]
fn a_fence_in_a_docstring_does_not_close_its_block() {
    let doc = "def area(r):\n    \"\"\"Area.\n\n```\narea(1)\n```\n    \"\"\"\n";
    assert_eq!(whole(&python(), &format!("So:\n```python\n{doc}{BODY}```\n")), BODY);
    assert!(!python().read(&format!("```python\n{doc}"), false).1);
    // Of a quote that is not closed the block ends with the fence.
    assert_eq!(whole(&python(), "```python\ndef area(r):\n    return \"\"\"a\n```\nBye."), "    return \"\"\"a\n");
    let body = "    let a = \"\n```\n\";\n    a.len()\n";
    let function = target("fn f() -> usize {\n}\n", Language::Rust, "f").requested();
    assert_eq!(whole(&function, &format!("```rust\nfn f() -> usize {{\n{body}}}\n```\n")), format!("{body}}}\n"));
}

#[test]
fn a_completion_that_answers_is_read_as_an_answer() {
    let function = python();
    for (text, is_answer) in [
        ("    return r", Some(false)),
        ("", None),
        ("\n", None),
        ("\n``", None),
        ("```python\n", Some(true)),
        ("~~~\n", Some(true)),
        ("d", None),
        ("def are", None),
        ("def area(", Some(true)),
        ("def other(", Some(false)),
        ("    def area(x):\n", Some(false)),
        ("    `", None),
        ("    `x`", Some(false)),
    ] {
        assert_eq!(function.is_answered(text), is_answer, "{text:?}");
    }
    let method = target("class A:\n\tdef größe(self):\n\t\tpass\n", Language::Python, "A.größe").requested();
    assert_eq!(method.is_answered("\tdef größe(self)"), Some(true));
    assert_eq!(
        whole(&method, "```python\ndef größe(self):\n    ä = 1\n    return ä\n```"),
        "\t\tä = 1\n\t\treturn ä\n"
    );
    let go = target("package p\n\n// F.\nfunc f(n int) int {\n}\n", Language::Go, "f").requested();
    assert_eq!(go.is_answered("func f("), Some(true));
    assert_eq!(go.is_answered("\treturn f(n)"), Some(false));
}

/// The last text of an answer that comes in pieces of this many bytes, and that of the whole answer.
fn streamed(function: &RequestedFunction, answer: &str, step: usize) -> (String, String) {
    let ends = (0..answer.len()).step_by(step).skip(1).filter(|&at| answer.is_char_boundary(at));
    let read = ends.map(|at| function.read(&answer[..at], false)).find(|(_, ended)| *ended);
    let all = function.read(answer, true).0;
    (read.map_or(all.clone(), |(text, _)| text).trim_end().to_owned(), all.trim_end().to_owned())
}

/// Every answer is read as the same text in pieces and whole.
fn all_read(cases: &[(Language, &str, &str, &str, &str)]) {
    for (language, file, name, answer, wanted) in cases {
        let function = target(file, *language, name).requested();
        for step in [1, 6, 37] {
            let (pieces, all) = streamed(&function, &format!("```\n{answer}```\n\nThat is it.\n"), step);
            assert_eq!(all, wanted.trim_end(), "{answer}");
            assert_eq!(pieces, all, "{step} bytes: {answer}");
        }
    }
}

#[test]
fn examples_with_names_of_the_function_stay_away() {
    use Language::{JavaScript, Python, TypeScript};
    let file = "def mean(values):\n    pass\n";
    let own = "    size = len(values)\n    return sum(values) / size\n";
    let answer = format!("size = 3\ndef mean(values):\n{own}\nvalues = [1, 2]\nsize = mean(values)\nprint(size)\n");
    let helped = "def mean(values):\n    return div(sum(values), len(values))\n\ndef div(top, low):\n    return top / low\n\ntop = 1\nvalues = [top]\nprint(mean(values))\n";
    all_read(&[
        (Python, file, "mean", &answer, own),
        (
            Python,
            file,
            "mean",
            helped,
            "    return div(sum(values), len(values))\n\ndef div(top, low):\n    return top / low\n",
        ),
        // One that the function needs is none of them.
        (
            Python,
            file,
            "mean",
            "BASE = 2\ndef mean(values):\n    return BASE + len(values)\n\nBASE = mean([])\n",
            "    return BASE + len(values)\n\nBASE = 2\n",
        ),
        (
            JavaScript,
            "function mean(values, { digits }) {\n}\n",
            "mean",
            "const digits = 2;\nfunction mean(values, { digits }) {\n  const sum = values.length, low = 1;\n  return sum / low + digits;\n}\n\nconst values = [1];\nconst low = 3, sum = mean(values, { digits });\nconsole.log(sum, low);\n",
            "  const sum = values.length, low = 1;\n  return sum / low + digits;\n}\n",
        ),
        (
            TypeScript,
            "function mean(values: number[]): number {\n}\n",
            "mean",
            "function mean(values: number[]): number {\n  return values.map((v): number => v).length;\n}\nconst v: number = 1;\nconst values: number[] = [v];\nmean(values);\n",
            "  return values.map((v): number => v).length;\n}\n",
        ),
    ]);
}

#[test]
fn a_function_of_another_class_is_not_the_one() {
    use Language::{Go, Python, Rust, TypeScript};
    let python = "class Dog(Pet):\n    def noise(self):\n        pass\n";
    let pets = "class Pet:\n    def noise(self):\n        return 'none'\n\nclass Dog(Pet):\n    def noise(self):\n        return 'woof'\n";
    let (one, other) = pets.split_once("\nclass Dog").unwrap();
    let apart = format!("{one}```\n\nAnd:\n\n```python\nclass Dog{other}");
    all_read(&[
        (Python, python, "Dog.noise", pets, "        return 'woof'\n"),
        (Python, python, "Dog.noise", &apart, "        return 'woof'\n"),
        (
            Go,
            "package p\n\ntype Dog struct{}\n\nfunc (d Dog) Noise() string {\n}\n",
            "Dog.Noise",
            "func (c Cat) Noise() string {\n\treturn \"miau\"\n}\n\nfunc (d Dog) Noise() string {\n\treturn \"woof\"\n}\n",
            "\treturn \"woof\"\n}\n",
        ),
        (
            Rust,
            "struct Dog;\nimpl Dog {\n    fn noise(&self) -> u8 {\n    }\n}\n",
            "Dog.noise",
            "impl Cat {\n    fn noise(&self) -> u8 {\n        1\n    }\n}\n\nimpl Dog {\n    fn noise(&self) -> u8 {\n        2\n    }\n}\n",
            "        2\n    }\n",
        ),
        (
            TypeScript,
            "class Dog {\n  noise(): string {\n  }\n}\n",
            "Dog.noise",
            "class Cat {\n  noise(): string {\n    return 'miau';\n  }\n}\n\nclass Dog {\n  noise(): string {\n    return 'woof';\n  }\n}\n",
            "    return 'woof';\n  }\n",
        ),
    ]);
}

#[test]
fn helpers_behind_the_function_are_waited_for() {
    use Language::{Go, JavaScript, Python, Rust};
    let has = |language, file: &str, name: &str, answer: &str, wanted: &[&str]| {
        let function = target(file, language, name).requested();
        let (pieces, all) = streamed(&function, &format!("```\n{answer}```\n\nThat is it.\n"), 6);
        assert_eq!(pieces, all, "{answer}");
        assert!(wanted.iter().all(|wanted| pieces.contains(wanted)), "{answer}\n{pieces}");
    };
    has(
        JavaScript,
        "class Box {\n  put(x) {\n  }\n}\n",
        "Box.put",
        "class Box {\n  put(x) {\n    this.weigh(x);\n  }\n\n  weigh(x) {\n    return x;\n  }\n}\n",
        &["weigh(x) {\n    return x;"],
    );
    has(
        Python,
        "class Box:\n    def put(self, x):\n        pass\n",
        "Box.put",
        "class Box:\n    def put(self, x):\n        return self._weight + x\n\n    @property\n    def _weight(self):\n        return 1\n",
        &["@property\n    def _weight"],
    );
    has(
        Python,
        "def put(x):\n    pass\n",
        "put",
        "def put(x):\n    return list(map(weigh, x))\n\ndef weigh(y):\n    return y\n",
        &["def weigh(y):"],
    );
    has(
        Rust,
        "fn put(x: &str) -> usize {\n}\n",
        "put",
        "fn put(x: &str) -> usize {\n    let one: Weight = x.into();\n    one.0\n}\n\nstruct Weight(usize);\n\nimpl From<&str> for Weight {\n    fn from(s: &str) -> Self {\n        Weight(s.len())\n    }\n}\n",
        &["struct Weight(usize);"],
    );
    has(
        Go,
        "package p\n\ntype Box struct{}\n\nfunc (b Box) Put(x int) int {\n}\n",
        "Box.Put",
        "func (b Box) Put(x int) int {\n\treturn b.weigh(x)\n}\n\nfunc (b Box) weigh(x int) int {\n\treturn x\n}\n",
        &["func (b Box) weigh(x int) int {"],
    );
    // Known names are not waited for.
    let function = target("def put(x):\n    pass\n", Python, "put").requested();
    let (text, ended) = function.read("```python\ndef put(x):\n    return [y for y in sorted(x)]\n\nprint(", false);
    assert!(!ended && text.contains("sorted"), "{text}");
    assert!(function.read("```python\ndef put(x):\n    return [y for y in sorted(x)]\n\nprint(put(1))\n", false).1);
}

#[test]
fn a_method_may_stand_without_its_class() {
    use Language::{JavaScript, Python, TypeScript};
    let file = "class Box {\n  put(x) {\n  }\n\n  get size() {\n  }\n}\n";
    let helped =
        "    this.#weigh(x);\n    return this;\n  }\n\n  #weigh(x) {\n    if (x) {\n      throw x;\n    }\n  }\n";
    all_read(&[
        (JavaScript, file, "Box.put", "put(x) {\n  return this;\n}\n", "    return this;\n  }\n"),
        (JavaScript, file, "Box.put", "  put(x) {\n    return this;\n  }\n", "    return this;\n  }\n"),
        (JavaScript, file, "Box.size", "get size() {\n  return 1;\n}\n", "    return 1;\n  }\n"),
        (
            JavaScript,
            file,
            "Box.put",
            "// Puts.\nput(x) {\n  this.#weigh(x);\n  return this;\n}\n\n#weigh(x) {\n  if (x) {\n    throw x;\n  }\n}\n\nconst box = new Box();\nbox.put(1);\n",
            helped,
        ),
        (
            TypeScript,
            "class Box {\n  put(x: number): this {\n  }\n}\n",
            "Box.put",
            "public put(x: number): this {\n  return this;\n}\n",
            "    return this;\n  }\n",
        ),
        (
            Python,
            "class Box:\n    def put(self, x):\n        pass\n",
            "Box.put",
            "def put(self, x):\n    return self._weigh(x)\n\ndef _weigh(self, x):\n    return x\n",
            "        return self._weigh(x)\n\n    def _weigh(self, x):\n        return x\n",
        ),
    ]);
}

#[test]
fn parameters_with_defaults_that_the_answer_adds() {
    use Language::{JavaScript, Python};
    all_read(&[
        (
            Python,
            "def cut(text):\n    pass\n",
            "cut",
            "def cut(text: str, *, at: str = ',', keep=()):\n    return text.split(at)\n",
            "    at = ','\n    return text.split(at)\n",
        ),
        (
            Python,
            "def ways(n):\n    pass\n",
            "ways",
            "def ways(n, seen={}):\n    if n not in seen:\n        seen[n] = ways(n - 1, seen)\n    return seen[n]\n",
            "    def ways(n, seen={}):\n        if n not in seen:\n            seen[n] = ways(n - 1, seen)\n        return seen[n]\n    return ways(n)\n",
        ),
        (
            JavaScript,
            "function seek(list, x) {\n}\n",
            "seek",
            "function seek(list, x, at = 0) {\n  return list[at] === x ? at : seek(list, x, at + 1);\n}\n",
            "  function seek(list, x, at = 0) {\n    return list[at] === x ? at : seek(list, x, at + 1);\n  }\n  return seek(list, x);\n",
        ),
    ]);
}
