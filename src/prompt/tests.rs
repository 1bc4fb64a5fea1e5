//! Contents of prompts, in every language, at every size.

mod worth;

use std::path::{Path, PathBuf};

use super::{Options, Shown, Tests, Told, of};
use crate::code::{Place, Target, TargetSpec};
use crate::language::Language;
use crate::model::{MAIN, Model, ModelFiles, PromptText, Role, Template};
use crate::source::Window;

/// The counting of a small tokenizer, with tokens for filling in.
fn window() -> Window {
    let model = Model::load(&ModelFiles::Embedded(&MAIN)).unwrap();
    let window = Window::of(model, None).unwrap();
    assert_eq!(window.tokens, None, "the built-in model is small");
    window
}

/// A window without a limit of its own.
fn wide() -> Window {
    let mut window = window();
    window.context = 0;
    window
}

/// Files in a project of their own.
fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for (path, text) in files.iter().chain(&[("pyproject.toml", "")]) {
        std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        std::fs::write(root.join(path), text).unwrap();
    }
    (folder, root)
}

fn target(path: &Path, name: &str) -> Target {
    Target::read(&TargetSpec { path: path.into(), place: Place::Function(name.into()) }).unwrap()
}

fn at(tokens: usize) -> Options {
    Options { tokens: Some(tokens), infill: false, ..Options::default() }
}

const UTIL: &str = "\"\"\"Helpers.\"\"\"\nimport re\n\nWORD = re.compile(r'[a-z]+')\n\n\ndef clean(text: str) -> str:\n    \"\"\"Strip and lower.\"\"\"\n    return text.strip().lower()\n\n\nclass Counter:\n    def __init__(self):\n        self.counts = {}\n\n    def add(self, word):\n        self.counts[word] = 1\n";

const REPORT: &str = r#"# Licence.

import os
from collections import defaultdict
from .util import Counter, clean

LIMIT = 10
TABLE = {"unrelated": 1}


def first(report):
    """The first line."""
    head = report.lines
    if head:
        head = head[:1]
    return head[0]


class Report:
    """A report."""

    def __init__(self, counter: Counter):
        self.counter = counter
        self.lines = []

    @property
    def size(self):
        return len(self.lines)

    # Most frequent first.
    def top(self, n=LIMIT):
        """The n most frequent words, by `first` and `clean`.

        >>> Report(Counter()).top()
        []
        """
        pass

    def render(self):
        """Render it."""
        out = []
        for line in self.lines:
            out.append(line)
        return "\n".join(out)


def main():
    print(Report(Counter()).render())
"#;

fn report() -> (tempfile::TempDir, Target) {
    let (folder, root) = project(&[("pkg/__init__.py", ""), ("pkg/util.py", UTIL), ("pkg/report.py", REPORT)]);
    let target = target(&root.join("pkg/report.py"), "top");
    (folder, target)
}

fn shown(target: &Target, options: Options) -> Shown {
    of(target, &Tests::default(), &window(), options, Told::default())
}

#[test]
fn with_room_the_prompt_has_the_file_and_what_it_imports() {
    let (_folder, target) = report();
    insta::assert_snapshot!(shown(&target, at(700)).text, @r#"
    # pkg/util.py
    # def clean(text: str) -> str:
    #     """Strip and lower."""
    #     return text.strip().lower()
    # class Counter:
    #     def __init__(self):
    #         self.counts = {}
    #     def add(self, word):
    #         self.counts[word] = 1

    # Licence.

    import os
    from collections import defaultdict
    from .util import Counter, clean

    LIMIT = 10
    TABLE = {"unrelated": 1}


    def first(report):
        """The first line."""
        head = report.lines
        if head:
            head = head[:1]
        return head[0]

    def main():
        print(Report(Counter()).render())

    class Report:
        """A report."""

        def __init__(self, counter: Counter):
            self.counter = counter
            self.lines = []

        @property
        def size(self):
            return len(self.lines)

        def render(self):
            """Render it."""
            out = []
            for line in self.lines:
                out.append(line)
            return "\n".join(out)

        def top(self, n=LIMIT):
            """The n most frequent words, by `first` and `clean`.

            >>> Report(Counter()).top()
            []
            """
    "#);
}

#[test]
fn with_little_room_it_has_heads_and_the_end_of_what_is_nearest() {
    let (_folder, target) = report();
    let text = shown(&target, at(130)).text;
    for part in ["from .util import Counter, clean\n", "LIMIT = 10\n", "def first(report): ...\n", "    @property\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("head = ") && !text.contains("TABLE"), "{text}");
    let end = "def first(report):\n    ...\n    return head[0]\n";
    assert!((60..200).any(|tokens| shown(&target, at(tokens)).text.contains(end)), "of what does not fit its end");
}

#[test]
fn small_models_get_what_they_got() {
    let (_folder, target) = report();
    let shown = shown(&target, Options::default());
    assert_eq!((shown.text.into_text(), shown.budget), (target.prompt(), None));
    assert!(shown.left_out[0].why.contains("--prompt-tokens"), "{:?}", shown.left_out);
}

/// One file of each language, with functions, classes, constants and imports around the unfinished function.
const FILES: &[(Language, &str, &str)] = &[
    (Language::Python, "m.py", REPORT),
    (
        Language::Rust,
        "m.rs",
        "//! Stacks.\n\nuse std::fmt::{self, Display};\nuse std::io;\n\n/// Most items.\nconst LIMIT: usize = 3;\n\n#[derive(Clone, Debug)]\npub struct Stack<T> {\n    items: Vec<T>,\n}\n\n#[inline]\nfn helper(x: usize) -> usize {\n    let y = x + 1;\n    if y > LIMIT {\n        return LIMIT;\n    }\n    y\n}\n\nimpl<T: Clone> Stack<T> {\n    /// A new one.\n    pub fn new() -> Self {\n        Self { items: vec![] }\n    }\n\n    /// Pushes up to `LIMIT`, see `helper`.\n\n    #[inline]\n    pub fn push(&mut self, item: T) -> Result<(), fmt::Error> {\n        todo!()\n    }\n\n    pub fn pop(&mut self) -> Option<T> {\n        self.items.pop()\n    }\n}\n\nimpl<T> Display for Stack<T> {\n    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {\n        write!(f, \"}} {{\")\n    }\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn it_pushes() {\n        assert!(Stack::new().push(1).is_ok());\n    }\n}\n",
    ),
    (
        Language::TypeScript,
        "m.ts",
        "/** @fileoverview Stacks. */\n\nimport type { Row } from './row';\nimport fs from 'fs';\n\ninterface Opts {\n  deep: boolean;\n}\nconst LIMIT = 3;\nconst twice = (n: number): number => n * 2;\n\nexport function helper(rows: Row[]): number {\n  let sum = 0;\n  for (const row of rows) {\n    sum += row.n;\n  }\n  return sum;\n}\n\nexport class Stack<T> {\n  private items: T[] = [];\n\n  constructor(private readonly limit: number = LIMIT) {\n  }\n\n  get size() { return this.items.length; }\n\n  /** Pushes. */\n  async push(item: T, opts: Opts): Promise<number> {\n    throw new Error('not implemented');\n  }\n\n  pop(): T | undefined {\n    return this.items.pop();\n  }\n}\n\nexport default { helper, twice };\n",
    ),
    (
        Language::JavaScript,
        "m.js",
        "'use strict';\nconst fs = require('fs');\nconst { a, b } = require('./row');\n\nconst LIMIT = 3;\n\nfunction helper(rows) {\n  const out = [];\n  rows.forEach((row) => {\n    out.push(row);\n  });\n  return out;\n}\n\n/**\n * Pushes up to `LIMIT`.\n */\n\nfunction push(items, item) {\n}\n\nconst api = {\n  pop: (items) => {\n    return items.pop();\n  },\n  size(items) {\n    return items.length;\n  },\n};\n\nmodule.exports = { helper, push, api };\n",
    ),
    (
        Language::Go,
        "m.go",
        "// Package p is a stack.\npackage p\n\nimport (\n\t\"fmt\"\n\tstr \"strings\"\n)\n\nconst Limit = 3\n\nvar table = map[string]int{\n\t\"a\": 1,\n}\n\n// Stack is one.\ntype Stack[T any] struct {\n\titems []T\n}\n\nfunc helper(n int) int {\n\tm := n + 1\n\tif m > Limit {\n\t\treturn Limit\n\t}\n\treturn m\n}\n\n// push pushes up to `Limit`.\nfunc (s *Stack[T]) push(item T) error {\n}\n\nfunc (s *Stack[T]) Pop() T {\n\tfmt.Println(str.ToUpper(\"x\"))\n\treturn s.items[0]\n}\n",
    ),
];

/// The text is code without errors.
fn is_code(language: Language, text: &str) -> bool {
    let grammar = match language {
        Language::Python => tree_sitter_python::LANGUAGE.into(),
        Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        Language::Go => tree_sitter_go::LANGUAGE.into(),
    };
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&grammar).unwrap();
    parser.parse(text, None).is_some_and(|tree| !tree.root_node().has_error())
}

#[test]
fn at_every_size_it_is_code_that_ends_with_the_stub() {
    let window = window();
    for &(language, name, text) in FILES {
        let (_folder, root) = project(&[(name, text), ("row.ts", "export interface Row {\n  n: number;\n}\n")]);
        let function = if language == Language::Python { "top" } else { "push" };
        let target = target(&root.join(name), function);
        assert!(is_code(language, &target.text), "{language:?}");
        let (stub, mut before) = (window.count(&target.stub()), 0);
        for budget in (20..700).step_by(20) {
            let shown = of(&target, &Tests::default(), &window, at(budget), Told::default());
            assert!(shown.text.ends_with(&target.stub()), "{language:?} {budget}:\n{}", shown.text);
            assert!(shown.tokens <= budget.max(stub + 60), "{language:?} {budget}: {}", shown.tokens);
            assert_eq!(shown, of(&target, &Tests::default(), &window, at(budget), Told::default()), "the same again");
            let body = if language == Language::Python { "        pass\n" } else { "" };
            let whole = format!("{}{body}{}", shown.text, target.after());
            assert!(is_code(language, &whole), "{language:?} {budget}:\n{}", shown.text);
            before = before.max(shown.tokens);
        }
        let all = of(&target, &Tests::default(), &window, at(5000), Told::default());
        assert!(all.text.contains("LIMIT") || all.text.contains("Limit"), "{}", all.text);
        assert!(all.left_out.iter().all(|part| part.what == "its tests"), "{:?}", all.left_out);
        assert!(all.tokens >= before);
    }
}

#[test]
fn what_stands_after_it_is_shown_once() {
    let window = wide();
    let infill = window.infill.unwrap();
    for &(language, name, text) in FILES {
        let (_folder, root) = project(&[(name, text)]);
        let function = if language == Language::Python { "top" } else { "push" };
        let target = target(&root.join(name), function);
        let options = Options { tokens: Some(5000), ..Options::default() };
        let shown = of(&target, &Tests::default(), &window, options, Told::default());
        let (before, after) = shown.text.split_once(infill.hole).unwrap();
        let before = before.strip_prefix(infill.begin).unwrap();
        let after = after.strip_suffix(infill.end).unwrap();
        assert!(before.ends_with(&target.stub()) && target.after().trim_end() == after.trim_end(), "{}", shown.text);
        assert!(is_code(
            language,
            &format!("{before}{}{after}", if language == Language::Python { "        pass\n" } else { "" })
        ));
        let rest = if language == Language::Python { "render" } else { "op(" };
        assert!(!before.contains(rest), "{before}");
        let short = of(
            &target,
            &Tests::default(),
            &window,
            Options { tokens: Some(300), ..Options::default() },
            Told::default(),
        );
        assert!(short.tokens <= 300, "{}", short.tokens);
    }
}

#[test]
fn tests_are_shown_where_they_are_named_or_asked_for() {
    let (_folder, target) = report();
    let text = "from pkg.report import Report\n\ndef test_top():\n    assert Report(TABLE).top(3) == []\n\ndef test_size():\n    assert Report(0).size == 0\n";
    let files = vec![(PathBuf::from("tests/test_report.py"), text.to_owned())];
    let of = |named, tests, tokens| {
        let tests_of = Tests { files: files.clone(), named };
        of(&target, &tests_of, &window(), Options { tests, tokens, infill: false }, Told::default()).text
    };
    let quoted = "# test_report.py\n# def test_top():\n#     assert Report(TABLE).top(3) == []\n";
    let shown = of(true, None, Some(400));
    assert!(shown.contains(quoted) && !shown.contains("test_size"), "{shown}");
    assert!(shown.contains("TABLE = {"), "what they name is shown, too: {shown}");
    assert!(of(false, Some(true), Some(400)).contains(quoted));
    assert!(of(false, Some(true), None).contains(quoted), "asked for, they are shown to small models, too");
    for hidden in [of(false, None, Some(400)), of(true, Some(false), Some(400)), of(true, None, None)] {
        assert!(!hidden.contains("test_top"), "{hidden}");
    }
}

#[test]
fn what_is_imported_comes_without_bodies_in_every_language() {
    let cases: &[(&str, &str, &str, &str, &str)] = &[
        (
            "src/app/main.ts",
            "import { clean } from '../lib/text';\n\nexport function run(s: string) {\n}\n",
            "src/lib/text.ts",
            "/** Lowers. */\nexport function clean(s: string): string {\n  return s.toLowerCase();\n}\nexport function other() {\n  return 1;\n}\n",
            "// src/lib/text.ts\n// /** Lowers. */\n// export function clean(s: string): string { /* ... */ }\n\n",
        ),
        (
            "src/main.rs",
            "mod text;\nuse crate::text::clean;\n\nfn run(s: &str) {\n}\n",
            "src/text.rs",
            "/// Lowers.\npub fn clean(s: &str) -> String {\n    s.to_lowercase()\n}\n",
            "// src/text.rs\n// /// Lowers.\n// pub fn clean(s: &str) -> String { /* ... */ }\n",
        ),
        (
            "p/a.go",
            "package p\n\nfunc run(s string) {\n}\n",
            "p/b.go",
            "package p\n\n// clean lowers.\nfunc clean(s string) string {\n\treturn s\n}\n",
            "// p/b.go\n// // clean lowers.\n// func clean(s string) string { /* ... */ }\n",
        ),
        (
            "a.py",
            "import text\n\ndef run(s):\n    pass\n",
            "text.py",
            "class Cleaner:\n    def __init__(self, a):\n        self.a = a\n\n    def clean(self, s):\n        return s\n",
            "# text.py\n# class Cleaner:\n#     def __init__(self, a): ...\n#     def clean(self, s): ...\n",
        ),
    ];
    for (file, text, other, other_text, quoted) in cases {
        let (_folder, root) = project(&[(file, text), (other, other_text)]);
        let shown = shown(&target(&root.join(file), "run"), at(300));
        assert!(shown.text.starts_with(quoted), "{}", shown.text);
    }
}

#[test]
fn a_function_in_a_function_comes_with_the_heads_around_it() {
    let text = "import os\n\n\nclass A:\n    def outer(self, x):\n        def inner(y):\n            \"\"\"Inner.\"\"\"\n        return inner\n";
    let (_folder, root) = project(&[("m.py", text)]);
    let shown = shown(&target(&root.join("m.py"), "inner"), at(300));
    let expected = &text[..text.find("        return").unwrap()];
    assert_eq!(&*shown.text, expected);
}

#[test]
fn special_tokens_in_a_file_are_letters_of_its_prompt() {
    let (begin, hole, end) = ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>");
    let text =
        format!("def f(x):\n    \"\"\"{end} and <|im_end|>.\"\"\"\n    return x\n\n\ndef g():\n    return {hole:?}\n");
    let (_folder, root) = project(&[("m.py", &text)]);
    let model = Model::load(&ModelFiles::Embedded(&MAIN)).unwrap();
    let tokens = [begin, hole, end].map(|token| model.tokenizer.id(token).unwrap());
    let ids = |text: &PromptText| model.tokenizer.encode_prompt(text, false).unwrap();
    let shown = shown(&target(&root.join("m.py"), "f"), Options { infill: true, ..at(300) });
    assert_eq!((shown.text.matches(hole).count(), shown.text.matches(end).count()), (2, 2), "{}", shown.text);
    let count = |token: u32| ids(&shown.text).into_iter().filter(|&id| id == token).count();
    assert_eq!(tokens.map(count), [1, 1, 1], "{}", shown.text);
    assert_eq!(ids(&shown.text).len(), shown.tokens);

    // The request to a chat model, with a sentence: marks are those of the template alone.
    let template =
        "{% for m in messages %}<|fim_prefix|>{{ m.content }}<|fim_middle|>{% endfor %}{{ '<|fim_suffix|>' }}";
    let template = Template { path: "chat_template.jinja".into(), text: template.to_owned(), tokens: Vec::new() };
    let chat = template.render().unwrap();
    let asked = window().asked(Some(chat.clone()));
    let told = Told { wish: Some("drop every <|fim_middle|>"), ..Told::default() };
    let shown = of(&target(&root.join("m.py"), "f"), &Tests::default(), &asked, at(300), told);
    let count = |token: u32| ids(&shown.text).into_iter().filter(|&id| id == token).count();
    assert!(shown.chat && shown.text.matches(end).count() > 2, "{}", shown.text);
    assert_eq!(tokens.map(count), [1, 1, 1], "{}", shown.text);
    // So it is for a conversation.
    let turns =
        [(Role::User, format!("{begin}a{end}")), (Role::Assistant, "b".to_owned()), (Role::User, hole.to_owned())];
    let text = asked.conversation(&chat, &turns).unwrap();
    assert_eq!(&*text, format!("{begin}{begin}a{end}{end}{begin}b{end}{begin}{hole}{end}{hole}"));
    let count = |token: u32| ids(&text).into_iter().filter(|&id| id == token).count();
    assert_eq!(tokens.map(count), [3, 1, 3]);
}
