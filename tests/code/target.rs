//! Finding a function, its prompt, and splicing a candidate: every shape a stub can have.

use bass_tui::code::{Place, Target, TargetSpec, function_names};
use bass_tui::language::Language::Python;

fn find(text: &str, place: &Place) -> Target {
    Target::in_text(text, Python, place).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn named(text: &str, name: &str) -> Target {
    find(text, &Place::Function(name.to_owned()))
}

fn error(text: &str, place: &Place) -> String {
    Target::in_text(text, Python, place).unwrap_err().to_string()
}

/// One stub, one candidate, and what they become.
struct Case {
    what: &'static str,
    text: &'static str,
    prompt: &'static str,
    candidate: &'static str,
    spliced: &'static str,
}

const BODY: &str = "    return n % 2 == 0\n";

const CASES: &[Case] = &[
    Case {
        what: "docstring only",
        text: "def f(n):\n    \"\"\"Even?\"\"\"\n",
        prompt: "def f(n):\n    \"\"\"Even?\"\"\"\n",
        candidate: BODY,
        spliced: "def f(n):\n    \"\"\"Even?\"\"\"\n    return n % 2 == 0\n",
    },
    Case {
        what: "code after the stub stays, and so do the blank lines before it",
        text: "def f(n):\n    \"\"\"Even?\"\"\"\n\n\nif __name__ == '__main__':\n    print(f(2))\n",
        prompt: "def f(n):\n    \"\"\"Even?\"\"\"\n",
        candidate: "    return n % 2 == 0\n\n\nif __name__ == '__main__':\n    pass\n",
        spliced: "def f(n):\n    \"\"\"Even?\"\"\"\n    return n % 2 == 0\n\n\nif __name__ == '__main__':\n    print(f(2))\n",
    },
    Case {
        what: "docstring of several lines, raw",
        text: "def f(n):\n    r'''Even?\n\n    >>> f(2)\n    True\n    '''\n    pass\n\nx = 1\n",
        prompt: "def f(n):\n    r'''Even?\n\n    >>> f(2)\n    True\n    '''\n",
        candidate: BODY,
        spliced: "def f(n):\n    r'''Even?\n\n    >>> f(2)\n    True\n    '''\n    return n % 2 == 0\n\nx = 1\n",
    },
    Case {
        what: "single-quoted docstring and a comment after it",
        text: "def f(n):\n    'Even?'  # sic\n    ...\n",
        prompt: "def f(n):\n    'Even?'  # sic\n",
        candidate: BODY,
        spliced: "def f(n):\n    'Even?'  # sic\n    return n % 2 == 0\n",
    },
    Case {
        what: "no final newline",
        text: "def f(n):\n    \"\"\"Even?\"\"\"",
        prompt: "def f(n):\n    \"\"\"Even?\"\"\"\n",
        candidate: BODY,
        spliced: "def f(n):\n    \"\"\"Even?\"\"\"\n    return n % 2 == 0",
    },
    Case {
        what: "nothing after the colon",
        text: "def f(n):",
        prompt: "def f(n):\n",
        candidate: BODY,
        spliced: "def f(n):\n    return n % 2 == 0",
    },
    Case {
        what: "empty body between functions",
        text: "def f(n):\n\ndef g():\n    return 1\n",
        prompt: "def f(n):\n",
        candidate: BODY,
        spliced: "def f(n):\n    return n % 2 == 0\n\ndef g():\n    return 1\n",
    },
    Case {
        what: "placeholder on the line of the def",
        text: "def f(n): ...\nx = 1\n",
        prompt: "def f(n):\n",
        candidate: BODY,
        spliced: "def f(n):\n    return n % 2 == 0\nx = 1\n",
    },
    Case {
        what: "docstring and placeholder on the line of the def",
        text: "def f(n): 'Even?'; pass\nx = 1\n",
        prompt: "def f(n):\n    'Even?'\n",
        candidate: BODY,
        spliced: "def f(n):\n    'Even?'\n    return n % 2 == 0\nx = 1\n",
    },
    Case {
        what: "placeholder on the line of the docstring",
        text: "def f(n):\n    'Even?'; pass\nx = 1\n",
        prompt: "def f(n):\n    'Even?'\n",
        candidate: BODY,
        spliced: "def f(n):\n    'Even?'\n    return n % 2 == 0\nx = 1\n",
    },
    Case {
        what: "signature over several lines",
        text: "def f(\n    n: int,  # a number: any\n    d={'a': 1},\n) -> dict[str, int]:\n    raise NotImplementedError('later')\n",
        prompt: "def f(\n    n: int,  # a number: any\n    d={'a': 1},\n) -> dict[str, int]:\n",
        candidate: "    return {}\n",
        spliced: "def f(\n    n: int,  # a number: any\n    d={'a': 1},\n) -> dict[str, int]:\n    return {}\n",
    },
    Case {
        what: "decorators and async",
        text: "@a.b(1)\n@c\nasync def f(n):\n    \"\"\"Even?\"\"\"\n",
        prompt: "@a.b(1)\n@c\nasync def f(n):\n    \"\"\"Even?\"\"\"\n",
        candidate: BODY,
        spliced: "@a.b(1)\n@c\nasync def f(n):\n    \"\"\"Even?\"\"\"\n    return n % 2 == 0\n",
    },
    Case {
        what: "comments of an unfinished function stay",
        text: "def f(n):\n    # By the last bit.\n\n    # Fast.\n    pass  # TODO\n",
        prompt: "def f(n):\n    # By the last bit.\n\n    # Fast.\n",
        candidate: BODY,
        spliced: "def f(n):\n    # By the last bit.\n\n    # Fast.\n    return n % 2 == 0\n",
    },
    Case {
        what: "a comment above stands in for the docstring",
        text: "x = 1\n# Even?\ndef f(n):\n    pass\n",
        prompt: "# Even?\ndef f(n):\n",
        candidate: BODY,
        spliced: "x = 1\n# Even?\ndef f(n):\n    return n % 2 == 0\n",
    },
    Case {
        what: "a finished body is replaced as a whole",
        text: "def f(n):\n    \"\"\"Even?\"\"\"\n\n    # No.\n    if n:\n        return [\n1]\n\n    return '''\nx'''\n# after\n",
        prompt: "def f(n):\n    \"\"\"Even?\"\"\"\n",
        candidate: BODY,
        spliced: "def f(n):\n    \"\"\"Even?\"\"\"\n    return n % 2 == 0\n# after\n",
    },
    Case {
        what: "tabs in the file, spaces from the model",
        text: "def f(n):\n\t\"\"\"Even?\"\"\"\n",
        prompt: "def f(n):\n\t\"\"\"Even?\"\"\"\n",
        candidate: "    if n:\n        x = '''\n    a'''\n        return (1 +\n                2)\n    return 0\n",
        spliced: "def f(n):\n\t\"\"\"Even?\"\"\"\n\tif n:\n\t\tx = '''\n    a'''\n\t\treturn (1 +\n\t\t\t\t2)\n\treturn 0\n",
    },
    Case {
        what: "two spaces in the file, four from the model",
        text: "def f(n):\n  \"\"\"Even?\"\"\"\n",
        prompt: "def f(n):\n  \"\"\"Even?\"\"\"\n",
        candidate: "    if n:\n        return 1\n    return 0\n",
        spliced: "def f(n):\n  \"\"\"Even?\"\"\"\n  if n:\n    return 1\n  return 0\n",
    },
    Case {
        what: "a candidate with Windows line ends and without a last newline",
        text: "def f(n):\n    \"\"\"Even?\"\"\"\n",
        prompt: "def f(n):\n    \"\"\"Even?\"\"\"\n",
        candidate: "    x = n\r\n\r\n    return x   ",
        spliced: "def f(n):\n    \"\"\"Even?\"\"\"\n    x = n\n\n    return x\n",
    },
    Case {
        what: "a string that is used is no docstring",
        text: "def f(n):\n    'a'.join(n)\n",
        prompt: "def f(n):\n",
        candidate: BODY,
        spliced: "def f(n):\n    return n % 2 == 0\n",
    },
];

#[test]
fn stubs_of_every_shape() {
    for case in CASES {
        let target = named(case.text, "f");
        assert_eq!(target.prompt(), case.prompt, "prompt: {}", case.what);
        assert_eq!(target.splice(case.candidate), case.spliced, "splice: {}", case.what);
        // The written function is found again, with the candidate as its body; comments then belong to the
        // body.
        if case.what.starts_with("comments") {
            continue;
        }
        let again = named(case.spliced, "f");
        assert_eq!(again.splice(case.candidate), case.spliced, "again: {}", case.what);
    }
}

const STACK: &str = r#"import math
import os.path as paths
from typing import (
    List,
    Optional as Maybe,
)
from collections import deque

LIMIT: int = 10
Items = List[int]
UNUSED = 3
message = "List of LIMIT"


class Base:
    pass


class Stack(Base):
    """A stack."""

    def __init__(self, limit=LIMIT):
        """Make one."""
        self.items = deque()

    @property
    def top(self) -> Maybe[int]:
        """Return the top, or None."""

    def push(self, item: "Items") -> None:
        """Push `math.floor(item)`.

        >>> Stack().push(1)
        """

    class Inner:
        def push(self):
            def helper(x):
                """Help."""
            return helper
"#;

#[test]
fn a_method_comes_with_what_it_names() {
    let target = named(STACK, "push");
    insta::assert_snapshot!(named(STACK, "Stack.push").prompt(), @r#"
    import math
    from typing import (
        List,
        Optional as Maybe,
    )
    from collections import deque

    LIMIT: int = 10
    Items = List[int]

    class Stack(Base):
        def __init__(self, limit=LIMIT):
            """Make one."""
            self.items = deque()

        def push(self, item: "Items") -> None:
            """Push `math.floor(item)`.

            >>> Stack().push(1)
            """
    "#);
    insta::assert_snapshot!(named(STACK, "Stack::Inner::push::helper").prompt(), @r#"
    class Stack(Base):
        class Inner:
            def push(self):
                def helper(x):
                    """Help."""
    "#);
    assert_eq!((target.name.as_str(), target.indent), ("Stack.push", 4));
}

#[test]
fn functions_are_listed_also_around_broken_code() {
    let names = |text: &str| -> Vec<(String, usize, bool)> {
        function_names(Python, text).into_iter().map(|f| (f.name, f.line, f.finished)).collect()
    };
    let whole = names(STACK);
    let expected = [
        ("Stack.__init__", 22, true),
        ("Stack.top", 27, false),
        ("Stack.push", 30, false),
        ("Stack.Inner.push", 37, true),
        ("Stack.Inner.push.helper", 38, false),
    ];
    assert_eq!(whole, expected.map(|(n, l, f)| (n.to_owned(), l, f)));
    // These functions are found, whatever is broken above, between or below them.
    for broken in ["x = foo(1,\n", "x = 'abc\n", "if :\n", "else\n", "    x = [{(\n", "def\n", "class (:\n"] {
        for (at, lines) in [(0, 1), (STACK.find("class Stack").unwrap(), 1), (STACK.len(), 0)] {
            let text = format!("{}{broken}{}", &STACK[..at], &STACK[at..]);
            let moved: Vec<_> = whole.iter().map(|(n, l, f)| (n.clone(), l + lines, *f)).collect();
            assert_eq!(names(&text), moved, "{text}");
        }
    }
}

#[test]
fn nothing_said_means_the_first_unfinished_function() {
    let text = "def a():\n    return 1\n\n@overload\ndef b(x: int): ...\n\ndef c():\n    pass\n\ndef d():\n    pass\n";
    assert_eq!(find(text, &Place::Any).name, "c");
    assert_eq!(find("def a():\n    return 1\n", &Place::Any).name, "a");
    // Bodies that are missing on purpose.
    let real = "def real(x):\n    \"\"\"Doc.\"\"\"\n";
    for class in [
        "class P(Protocol):\n    def m(self) -> int: ...\n",
        "class P(Sized, typing.Protocol[T]):\n    def m(self) -> int:\n        \"\"\"Doc.\"\"\"\n",
        "class P(ABC):\n    @property\n    @abc.abstractmethod  # later\n    def m(self):\n        raise NotImplementedError\n",
    ] {
        assert_eq!(find(&format!("{class}\n\n{real}"), &Place::Any).name, "real", "{class}");
    }
    for class in ["class P(asyncio.Protocol):\n", "class Protocol(Base):\n", "class P(Base):\n"] {
        assert_eq!(
            find(&format!("{class}    def m(self): ...\n\n\n{real}"), &Place::Any).name.rsplit('.').next(),
            Some("m")
        );
    }
    insta::assert_snapshot!(
        error("def a():\n    return 1\n\ndef b():\n    return 2\n", &Place::Any),
        @"every function in the text has a body already; say which one to write again: `a` (line 1), `b` (line 4)"
    );
    insta::assert_snapshot!(
        error("x = 1\n", &Place::Any),
        @"the text holds no function; write the signature and a docstring of the one you want first"
    );
}

#[test]
fn names_and_lines() {
    let text =
        "def mean(x):\n    return 1\n\n@d\ndef mode(x):\n    '''Doc.'''\n\n\nx = 1\n\ndef mean(y):\n    return 2\n";
    insta::assert_snapshot!(
        error(text, &Place::Function("meen".to_owned())),
        @"the text has no function `meen` (did you mean `mean`?); it has `mean` (line 1), `mode` (line 5, unfinished), `mean` (line 11)"
    );
    insta::assert_snapshot!(
        error(text, &Place::Function("mean".to_owned())),
        @"the text has 2 functions `mean`, on lines 1, 11; say which one by its line: the text:11"
    );
    for (line, name) in [(1, "mean"), (2, "mean"), (3, "mean"), (4, "mode"), (6, "mode"), (8, "mode"), (12, "mean")] {
        assert_eq!(find(text, &Place::Line(line)).name, name, "line {line}");
    }
    insta::assert_snapshot!(
        error(text, &Place::Line(9)),
        @"line 9 of the text (12 lines) is in no function; it has `mean` (line 1), `mode` (line 5, unfinished), `mean` (line 11)"
    );
    assert!(Target::in_text(text, Python, &Place::Line(0)).is_err());
    assert!(Target::in_text(text, Python, &Place::Line(99)).is_err());
    let property = "class A:\n    @property\n    def x(self):\n        return 1\n    @x.setter\n    def x(self, v):\n        self.y = v\n";
    insta::assert_snapshot!(
        error(property, &Place::Function("A.x".to_owned())),
        @"the text has 2 functions `A.x`, on lines 3, 6; say which one by its line: the text:6"
    );
    assert_eq!(find(property, &Place::Line(5)).line, 6);
    assert_eq!(find("x = 1\n# Doc.\ndef f():\n    pass\n", &Place::Line(2)).name, "f", "its comment is part of it");
    // Of two with one name, the one without a body is meant.
    assert_eq!(named("def f():\n    return 1\ndef f():\n    pass\n", "f").line, 3);
    assert_eq!(
        find("class A:\n    def f(self):\n        x = 1\n        def g():\n            pass\n", &Place::Line(5)).name,
        "A.f.g"
    );
}

#[test]
fn doctests_are_noticed() {
    for (text, has) in [
        ("def f():\n    '''\n    >>> f()\n    '''\n", true),
        ("def f():\n    r\"\"\">>> f()\n    1\"\"\"\n", true),
        ("def f():\n    '''f() >>> 1'''\n", false),
        ("def f():\n    # >>> f()\n    pass\n", false),
        ("def f(): '''>>> f()'''\n", true),
    ] {
        assert_eq!(find(text, &Place::Any).has_doctests(), has, "{text}");
    }
    for (docstring, tells) in [
        (">>> f()", false),
        (">>> f()\n\n    Text.", false),
        (">>> f(\n    ... 1)", false),
        (">>> f()\n    1", true),
        (">>> f(\n    ... 1)\n    1", true),
        (">>> assert f() == 1", true),
    ] {
        let text = format!("def f():\n    '''\n    {docstring}\n    '''\n");
        assert_eq!(find(&text, &Place::Any).has_telling_doctests(), tells, "{text}");
    }
}

#[test]
fn what_cannot_be_read_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let message = |text: String| {
        let error = TargetSpec::parse(&text).and_then(|s| Target::read(&s)).unwrap_err().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    std::fs::create_dir(folder.path().join("dir.py")).unwrap();
    std::fs::write(folder.path().join("latin.py"), b"x = 1\ny = '\xe9'\n").unwrap();
    std::fs::write(folder.path().join("notes.txt"), b"x").unwrap();
    insta::assert_snapshot!(message(path("no.py")), @"there is no file no.py; check the name and the folder");
    insta::assert_snapshot!(message(path("dir.py")), @"dir.py is a folder; name a source file in it");
    insta::assert_snapshot!(
        message(path("latin.py:f")),
        @"latin.py is not UTF-8 text: the byte at offset 11 (line 2) does not belong there; save the file as UTF-8"
    );
    insta::assert_snapshot!(
        message(path("notes.txt")),
        @"notes.txt is not in a language that can be completed here; files that end in .py, .pyi, .js, .mjs, .cjs, .jsx, .ts, .mts, .cts, .tsx, .rs, .go can be"
    );
}

/// A plain stub is its own prompt: models are trained on that form.
#[test]
fn the_examples_are_their_own_prompts() {
    let mut files = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "py") {
            continue;
        }
        files += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        let functions = function_names(Python, &text);
        assert!(functions.len() > 1, "{path:?}");
        for function in functions {
            let target = find(&text, &Place::Line(function.line));
            assert!(
                !function.finished && target.has_doctests() && target.body.is_empty(),
                "{path:?} {}",
                function.name
            );
            assert!(target.prompt().starts_with("def ") && text.contains(&target.prompt()), "{}", target.prompt());
        }
    }
    assert!(files >= 5);
}
