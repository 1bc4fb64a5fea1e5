//! Functions of the languages whose blocks stand in braces: finding them, their prompts, splicing a
//! candidate.

use bass_tui::code::{Place, Target, function_names, open_function};
use bass_tui::language::Language::{self, Go, JavaScript, Rust, TypeScript};

fn named(language: Language, text: &str, name: &str) -> Target {
    Target::in_text(text, language, &Place::Function(name.to_owned())).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn names(language: Language, text: &str) -> Vec<(String, usize, bool)> {
    function_names(language, text).into_iter().map(|f| (f.name, f.line, f.finished)).collect()
}

const RUST: &str = r##"//! Numbers.
use std::collections::HashMap;
use std::fmt::{self, Display};

const LIMIT: usize = 3;

/// A stack.
#[derive(Debug)]
pub struct Stack<T> {
    items: Vec<T>,
}

impl<T: Clone> Stack<T>
where
    T: Display,
{
    pub fn new() -> Self {
        Self { items: vec![] }
    }

    /// Pushes up to `LIMIT`.
    #[inline]
    #[cfg_attr(
        test, inline(never)
    )]
    pub fn push<'a>(&'a mut self, item: T) -> Result<(), fmt::Error> {
        todo!()
    }
    fn brace(&self) -> char { '}' }
}

impl<T> Display for crate::Stack<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        // By the first item.
        unimplemented!("later");
    }
}

trait Shape {
    fn area(&self) -> f64;
    fn twice(&self) -> f64 {
        self.area() * 2.0
    }
}

mod inner {
    pub(crate) const unsafe extern "C" fn deep() {
        fn deeper() {
            panic!("not implemented yet")
        }
        let _ = r#"}"#;
    }
}
"##;

const TYPESCRIPT: &str = r#"import { one, b as c } from './x';
import type { Row } from './row';
import * as fs from 'fs';

interface Opts {
  deep: boolean;
}
const LIMIT = 3;

/**
 * A stack.
 */
export class Stack<T extends object> extends Base implements I {
  private items: T[] = [];
  constructor(private readonly limit: number = LIMIT) {
    super();
  }

  /** Pushes. */
  @log({ a: 1 })
  public async push<K, V>(item: T, opts: Opts): Promise<{ a: string }> {
    throw new Error("not implemented");
  }
  get size(): number { return `${this.items.length}}`.length; }
  set size(n: number) {}
  #secret() {}
  handler = (e: Event): void => {};
  *gen(): Iterator<T> {}
  [Symbol.iterator]() { return /[}/]/; }
}

export default function main(id: string): Row {}

export const add = (x: number, y: number): number => x + y;
const api = {
  get(x) { return x / 2; },
  post: async (u: string) => {},
  deep: { er() {} },
};
function over(x: string): void;
function over(x: any): void {
  // Decide.
}
const f = async function named() {};
namespace NS {
  export function inner() {}
}
abstract class A { abstract g(): void; h() {} }
"#;

const JAVASCRIPT: &str = r"'use strict';
const { x } = require('y');
module.exports.foo = function (a) { return a; };
exports.bar = (a) => a * 2;
Stack.prototype.pop = function () {
};
module.exports = {
  baz() {},
  qux: () => { throw new Error('TODO: write'); },
};
const App = ({ name }) => {
  return <p>It's {name} <b>it's</b></p>;
};
function* gen() {}
var self = this, late = function () {};
export default () => {};
if (x) { foo(); }
module.exports = class Named { m() {} };
";

const GO: &str = r#"// Package p.
package p

import (
	"fmt"
	str "strings"
)

const Limit = 3

// Stack is one.
type Stack[T any] struct {
	items []T
}

// Push pushes.
func (s *Stack[T]) Push(item T) error {
	panic("not implemented")
}

func Map[K comparable, V any](m map[K]V, f func(V) interface{}) map[string]struct{} {
	// TODO
}

func (Stack[T]) Len() int { return 0 }

var handler = func(w int) int { return w }

func main() {
	local := func() { fmt.Println("}", '}', `}`) }
	local()
}
"#;

/// Name, line, and whether there is a body.
type Listed = (&'static str, usize, bool);

const LISTS: &[(Language, &str, &[Listed])] = &[
    (
        Rust,
        RUST,
        &[
            ("Stack.new", 17, true),
            ("Stack.push", 26, false),
            ("Stack.brace", 29, true),
            ("Stack.fmt", 33, false),
            ("Shape.twice", 41, true),
            ("inner.deep", 47, true),
            ("inner.deep.deeper", 48, false),
        ],
    ),
    (
        TypeScript,
        TYPESCRIPT,
        &[
            ("Stack.constructor", 15, true),
            ("Stack.push", 21, false),
            ("Stack.size", 24, true),
            ("Stack.size", 25, false),
            ("Stack.#secret", 26, false),
            ("Stack.handler", 27, false),
            ("Stack.gen", 28, false),
            ("Stack.[Symbol.iterator]", 29, true),
            ("main", 32, false),
            ("add", 34, true),
            ("api.get", 36, true),
            ("api.post", 37, false),
            ("api.deep.er", 38, false),
            ("over", 41, false),
            ("f", 44, false),
            ("NS.inner", 46, false),
            ("A.h", 48, false),
        ],
    ),
    (
        JavaScript,
        JAVASCRIPT,
        &[
            ("foo", 3, true),
            ("bar", 4, true),
            ("Stack.pop", 5, false),
            ("exports.baz", 8, false),
            ("exports.qux", 9, false),
            ("App", 11, true),
            ("gen", 14, false),
            ("late", 15, false),
            ("default", 16, false),
            ("Named.m", 18, false),
        ],
    ),
    (
        Go,
        GO,
        &[
            ("Stack.Push", 17, false),
            ("Map", 21, false),
            ("Stack.Len", 25, true),
            ("handler", 27, true),
            ("main", 29, true),
            ("main.local", 30, true),
        ],
    ),
];

/// Functions that the grammar finds in whole code are found by the scan for broken code, too, with broken
/// code above or below.
#[test]
fn functions_are_listed_also_around_broken_code() {
    for &(language, text, expected) in LISTS {
        let expected: Vec<_> = expected.iter().map(|&(n, l, f)| (n.to_owned(), l, f)).collect();
        assert_eq!(names(language, text), expected, "{language:?}");
        for broken in ["x = (1,\n", "x = [{(\n", "x = \"abc\n", ")\n", "} ]\n", "@ @ ::\n"] {
            // A Rust string goes over lines, so that one that is not closed turns everything inside out.
            if language == Rust && broken.contains('"') {
                continue;
            }
            let below = format!("{text}{broken}");
            assert_eq!(names(language, &below), expected, "{language:?} {broken:?} below");
            let above: Vec<_> = expected.iter().map(|(n, l, f)| (n.clone(), l + 1, *f)).collect();
            assert_eq!(names(language, &format!("{broken}{text}")), above, "{language:?} {broken:?} above");
        }
    }
}

#[test]
fn a_missing_brace_does_not_reach_the_next_function() {
    for (language, text, expected) in [
        (
            Rust,
            "impl A {\n    fn f() {\n        if x {\n    }\n    fn g() {\n        1\n    }\n}\nfn h() {}\n",
            ["A.f", "A.g", "h"],
        ),
        (
            JavaScript,
            "class A {\n  f() {\n    if (x) {\n  }\n  g() {\n    1\n  }\n}\nfunction h() {}\n",
            ["A.f", "A.g", "h"],
        ),
        (Go, "func f() {\n\tif x {\n}\n\n// g.\nfunc g() {\n}\n\nfunc h() {}\n", ["f", "g", "h"]),
    ] {
        let found: Vec<String> = names(language, text).into_iter().map(|f| f.0).collect();
        assert_eq!(found, expected, "{text}");
        let target = named(language, text, "g");
        assert!(!target.text[target.body.clone()].contains("h("), "{text}");
        // Parts missing in the first are written anew with its body, and nothing behind it is lost.
        let target = named(language, text, "f");
        let spliced = target.splice("x;\n}");
        assert_eq!(names(language, &spliced).iter().filter(|f| f.0.ends_with(['f', 'g', 'h'])).count(), 3, "{spliced}");
    }
}

/// One stub, one candidate, and what they become.
struct Case {
    language: Language,
    what: &'static str,
    text: &'static str,
    prompt: &'static str,
    candidate: &'static str,
    spliced: &'static str,
}

const CASES: &[Case] = &[
    Case {
        language: Rust,
        what: "a placeholder between doc comment and other code",
        text: "/// Even?\n#[inline]\nfn f(n: i32) -> bool {\n    todo!()\n}\n\nfn g() {}\n",
        prompt: "/// Even?\n#[inline]\nfn f(n: i32) -> bool {\n",
        candidate: "    n % 2 == 0\n}\n\nfn main() {\n",
        spliced: "/// Even?\n#[inline]\nfn f(n: i32) -> bool {\n    n % 2 == 0\n}\n\nfn g() {}\n",
    },
    Case {
        language: Rust,
        what: "an empty body, a candidate without its brace",
        text: "fn f(n: i32) -> bool {}\n",
        prompt: "fn f(n: i32) -> bool {\n",
        candidate: "    n % 2 == 0",
        spliced: "fn f(n: i32) -> bool {\n    n % 2 == 0\n}\n",
    },
    Case {
        language: Rust,
        what: "nothing after the brace",
        text: "fn f(n: i32) -> bool {",
        prompt: "fn f(n: i32) -> bool {\n",
        candidate: "    n % 2 == 0\n}\n",
        spliced: "fn f(n: i32) -> bool {\n    n % 2 == 0\n}",
    },
    Case {
        language: Rust,
        what: "the brace on a line of its own",
        text: "fn f<T>(n: T) -> bool\nwhere\n    T: Copy,\n{\n    // By the last bit.\n    todo!(\"f\") // later\n}\n",
        prompt: "fn f<T>(n: T) -> bool\nwhere\n    T: Copy,\n{\n    // By the last bit.\n",
        candidate: "    let c = '}';\n    true\n}",
        spliced: "fn f<T>(n: T) -> bool\nwhere\n    T: Copy,\n{\n    // By the last bit.\n    let c = '}';\n    true\n}\n",
    },
    Case {
        language: Rust,
        what: "a candidate at the left border, in a method",
        text: "impl A {\n    fn f(&self) {\n        unimplemented!();\n    }\n}\n",
        prompt: "impl A {\n    fn f(&self) {\n",
        candidate: "if x {\n  \"a\n b\"\n}\n}\n",
        spliced: "impl A {\n    fn f(&self) {\n        if x {\n            \"a\n b\"\n        }\n    }\n}\n",
    },
    Case {
        language: Go,
        what: "tabs in the file, spaces from the model",
        text: "// f is even.\nfunc f(n int) bool {\n\tpanic(\"TODO\")\n}\n",
        prompt: "// f is even.\nfunc f(n int) bool {\n",
        candidate: "    if n > 0 {\n        return `\n    a`\n    }\n    return 0\n}\n",
        spliced: "// f is even.\nfunc f(n int) bool {\n\tif n > 0 {\n\t\treturn `\n    a`\n\t}\n\treturn 0\n}\n",
    },
    Case {
        language: Go,
        what: "on one line, no final newline",
        text: "func f(n int) bool { return true }",
        prompt: "func f(n int) bool {\n",
        candidate: "\treturn n%2 == 0\n}\n",
        spliced: "func f(n int) bool {\n\treturn n%2 == 0\n}",
    },
    Case {
        language: JavaScript,
        what: "an arrow function with an expression",
        text: "export const f = (n) => n % 2;\nlet x = 1;\n",
        prompt: "export const f = (n) => {\n",
        candidate: "  return n % 2 === 0;\n};\n",
        spliced: "export const f = (n) => {\n  return n % 2 === 0;\n};\nlet x = 1;\n",
    },
    Case {
        language: JavaScript,
        what: "a finished body is replaced as a whole, comments included",
        text: "/**\n * Even?\n */\nfunction f(n) {\n    // No.\n    return `${n}}`; }\nf(2);\n",
        prompt: "/**\n * Even?\n */\nfunction f(n) {\n",
        candidate: "  const m = /}/;\n  if (n) {\n    return 1;\n  }\n}\nconsole.log(f(2));\n",
        spliced: "/**\n * Even?\n */\nfunction f(n) {\n    const m = /}/;\n    if (n) {\n        return 1;\n    }\n}\nf(2);\n",
    },
    Case {
        language: JavaScript,
        what: "the brace below, a comment after it",
        text: "function f(n)\n{ // body\n}\n",
        prompt: "function f(n)\n{ // body\n",
        candidate: "  return 1;\n}\n",
        spliced: "function f(n)\n{ // body\n  return 1;\n}\n",
    },
    Case {
        language: TypeScript,
        what: "a method with decorator, typed",
        text: "class A {\n  /** Even? */\n  @log\n  async f(n: number): Promise<{ a: string }> {\n    throw new Error(\"Not implemented.\");\n  }\n}\n",
        prompt: "class A {\n  /** Even? */\n  @log\n  async f(n: number): Promise<{ a: string }> {\n",
        candidate: "    return { a: `${n}` };\n  }\n\n  g() {\n",
        spliced: "class A {\n  /** Even? */\n  @log\n  async f(n: number): Promise<{ a: string }> {\n    return { a: `${n}` };\n  }\n}\n",
    },
    Case {
        language: TypeScript,
        what: "a property of an object",
        text: "const api = {\n  f: (n: number) => {},\n  b: 1,\n};\n",
        prompt: "const api = {\n  f: (n: number) => {\n",
        candidate: "    return n;\r\n  },",
        spliced: "const api = {\n  f: (n: number) => {\n    return n;\n  },\n  b: 1,\n};\n",
    },
];

#[test]
fn stubs_of_every_shape() {
    for case in CASES {
        let target = named(case.language, case.text, "f");
        assert_eq!(target.prompt(), case.prompt, "prompt: {}", case.what);
        assert_eq!(target.splice(case.candidate), case.spliced, "splice: {}", case.what);
        // The written function is found again, with the candidate as its body; comments then belong to the
        // body.
        if case.spliced.contains("// By the last bit.") {
            continue;
        }
        let again = named(case.language, case.spliced, "f");
        assert_eq!(again.splice(case.candidate), case.spliced, "again: {}", case.what);
    }
}

#[test]
fn functions_come_with_what_they_name() {
    insta::assert_snapshot!(named(Rust, RUST, "push").prompt(), @r#"
    use std::fmt::{self, Display};

    const LIMIT: usize = 3;
    pub struct Stack<T> {
        items: Vec<T>,
    }

    impl<T: Clone> Stack<T>
    where
        T: Display,
    {
        pub fn new() -> Self {
            Self { items: vec![] }
        }

        /// Pushes up to `LIMIT`.
        #[inline]
        #[cfg_attr(
            test, inline(never)
        )]
        pub fn push<'a>(&'a mut self, item: T) -> Result<(), fmt::Error> {
    "#);
    insta::assert_snapshot!(named(TypeScript, TYPESCRIPT, "Stack.push").prompt(), @r"
    interface Opts {
      deep: boolean;
    }
    const LIMIT = 3;

    export class Stack<T extends object> extends Base implements I {
      constructor(private readonly limit: number = LIMIT) {
        super();
      }

      /** Pushes. */
      @log({ a: 1 })
      public async push<K, V>(item: T, opts: Opts): Promise<{ a: string }> {
    ");
    insta::assert_snapshot!(named(TypeScript, TYPESCRIPT, "main").prompt(), @r"
    import type { Row } from './row';

    export default function main(id: string): Row {
    ");
    insta::assert_snapshot!(named(Go, GO, "Stack.Push").prompt(), @r#"
    import (
    	"fmt"
    	str "strings"
    )

    type Stack[T any] struct {
    	items []T
    }

    // Push pushes.
    func (s *Stack[T]) Push(item T) error {
    "#);
}

#[test]
fn lines_and_names() {
    let at = |line: usize| Target::in_text(RUST, Rust, &Place::Line(line)).map(|t| t.name).map_err(|e| e.to_string());
    for (line, name) in [
        (17, "Stack.new"),
        (18, "Stack.new"),
        (20, "Stack.new"),
        (21, "Stack.push"),
        (24, "Stack.push"),
        (28, "Stack.push"),
        (29, "Stack.brace"),
        (34, "Stack.fmt"),
        (49, "inner.deep.deeper"),
        (51, "inner.deep"),
    ] {
        assert_eq!(at(line).as_deref(), Ok(name), "line {line}");
    }
    let none = at(5).unwrap_err();
    assert!(
        none.starts_with("line 5 of the text (") && none.contains("is in no function; it has `Stack.new`"),
        "{none}"
    );
    // Of a getter and a setter, the one without a body is meant; of two with bodies, none.
    assert_eq!(named(TypeScript, TYPESCRIPT, "size").line, 25);
    let both = TYPESCRIPT.replace("set size(n: number) {}", "set size(n: number) { this.n = n; }");
    insta::assert_snapshot!(
        Target::in_text(&both, TypeScript, &Place::Function("Stack::size".into())).unwrap_err(),
        @"the text has 2 functions `Stack.size`, on lines 24, 25; say which one by its line: the text:25"
    );
    assert!(!named(Rust, "/// >>> 1\nfn f() {}\n", "f").has_doctests());
}

#[test]
fn tsx_is_read_too() {
    let text = "const A = (p: { a: string }) => {\n  return <b>{p.a} isn't</b>;\n};\nfunction g<T,>(x: T) {}\n";
    assert_eq!(names(TypeScript, text), [("A".to_owned(), 1, true), ("g".to_owned(), 4, false)]);
}

#[test]
fn a_head_at_the_end_of_a_text_tells_its_language() {
    for (text, language, name) in [
        ("def f(x):\n", Language::Python, "f"),
        ("use a;\n\n/// Doc.\npub fn f<'a>(x: &'a str) -> i32 {", Rust, "f"),
        ("impl A {\n    fn f(&self) {\n", Rust, "A.f"),
        ("package p\n\nfunc (s *S) F(x int) error {\n", Go, "S.F"),
        ("function a() {}\n// Doc: it.\nfunction f(x) {\n\n", JavaScript, "f"),
        ("const f = async (x) => {", JavaScript, "f"),
        ("function f(x: number): number {\n", TypeScript, "f"),
        ("class A {\n  f(x) {\n", JavaScript, "A.f"),
    ] {
        let target = open_function(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((target.language, target.name.as_str()), (language, name), "{text}");
        assert!(target.splice("x }").trim_end().ends_with('}') || language == Language::Python);
    }
    for text in
        ["Dear Sir or Madam,", "", "function f() {}", "fn f() { 1", "int main() {\n", "struct A {\n", "if (x) {\n"]
    {
        assert!(open_function(text).is_none(), "{text}");
    }
}

/// The answer of the real tools: what was written is read by them without complaint.
#[test]
fn what_is_written_is_valid() {
    let folder = tempfile::tempdir().unwrap();
    for (tool, arguments, file, text, name, candidate) in [
        (
            "rustc",
            &["--edition=2021", "--crate-type=lib", "--emit=metadata", "-Aall"][..],
            "a.rs",
            "pub struct A;\nimpl A {\n    /// Even?\n    pub fn f(&self, n: i32) -> bool { todo!() }\n}\n",
            "A.f",
            "  n % 2 == 0\n}\n}\n",
        ),
        (
            "node",
            &["--check"][..],
            "a.js",
            "class A {\n  f(n) {}\n}\nconst g = (x) => x + 1, h = 2;\n",
            "g",
            "const s = `}`;\nreturn s;\n}\n",
        ),
        (
            "gofmt",
            &["-l"][..],
            "a.go",
            "package p\n\nfunc f(n int) bool { return n > 0 }\n",
            "f",
            "    return n%2 == 0\n}\n",
        ),
    ] {
        let path = folder.path().join(file);
        let target = named(Language::of_path(&path).unwrap(), text, name);
        std::fs::write(&path, target.splice(candidate)).unwrap();
        match std::process::Command::new(tool).args(arguments).arg(&path).current_dir(folder.path()).output() {
            Ok(out) => assert!(out.status.success() && (tool != "gofmt" || out.stdout.is_empty()), "{out:?}"),
            Err(error) => crate::skip::for_want_of(tool, error),
        }
    }
}

#[test]
fn a_documenting_comment_belongs_to_the_function_across_blank_lines() {
    for (language, text, stub) in [
        (Rust, "/// Even?\n\n#[inline]\n\nfn f(n: i32) -> bool {\n    todo!()\n}\n", "/// Even?\n\n#[inline]\n"),
        (Rust, "//! File.\n\n// Plain.\n\nfn f(n: i32) -> bool {\n    todo!()\n}\n", "fn f"),
        (
            Rust,
            "/// Even?\n/// Or odd.\n\n\nfn f(n: i32) -> bool {\n    todo!()\n}\n",
            "/// Even?\n/// Or odd.\n\n\nfn",
        ),
        (JavaScript, "/**\n * Even?\n */\n\nfunction f(n) {\n}\n", "/**\n * Even?\n */\n\nfunction"),
        (JavaScript, "/**\n * @fileoverview Numbers.\n */\n\nfunction f(n) {\n}\n", "function"),
        (JavaScript, "/// <reference path=\"a\" />\n\nfunction f(n) {\n}\n", "function"),
        (TypeScript, "class A {\n  /** Even? */\n\n  f(n: number) {\n  }\n}\n", "  /** Even? */\n\n  f("),
        (Go, "// Licence.\n\nfunc f(n int) bool {\n}\n", "func"),
    ] {
        let target = Target::in_text(text, language, &Place::Any).unwrap();
        assert!(target.stub().starts_with(stub), "{language:?}: {:?}", target.stub());
        assert!(target.prompt().contains(stub), "{:?}", target.prompt());
        let spliced = target.splice("    return n % 2 == 0\n");
        assert!(spliced.starts_with(&text[..text.find(stub).unwrap() + stub.len()]), "{spliced}");
    }
}

/// Tables of data and lists say nothing about the steps of code.
#[test]
fn an_empty_body_is_indented_as_the_nearest_function_is() {
    let cases = [
        (JavaScript, "const T = [\n  1,\n];\n\nfunction f(x) {\n}\n\nfunction g(x) {\n    return x;\n}\n", "    "),
        (
            TypeScript,
            "function g(x: A) {\n  return x;\n}\n\nfunction h(x: A) {\n    return x;\n}\n\nfunction f(x: A) {}\n",
            "    ",
        ),
        (Rust, "const T: [i32; 1] = [\n  1,\n];\n\nfn g() {\n    // One.\n    h();\n}\n\nfn f() {}\n", "    "),
        (Go, "package p\n\nvar t = []int{\n  1,\n}\n\nfunc g() {\n\th()\n}\n\nfunc f() {\n}\n", "\t"),
        (JavaScript, "const T = [\n  1,\n];\n\nfunction f(x) {\n}\n", "  "),
    ];
    for (language, text, step) in cases {
        for own in ["  ", "    ", "\t"] {
            let spliced = named(language, text, "f").splice(&format!("{own}if (x) {{\n{own}{own}h();\n{own}}}\n}}\n"));
            let expected = format!("{{\n{step}if (x) {{\n{step}{step}h();\n{step}}}\n}}\n");
            assert!(spliced.contains(&expected), "{spliced}");
        }
    }
}
