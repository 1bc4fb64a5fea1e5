//! Bodies that tell what to write: callers, functions like the function, tests and what these use.

use super::*;

/// A module of two functions like each other, of which one is to be written.
const CODEC: &str = r#"from .framework import App
from .table import lookup


def decode(text):
    """Text as numbers."""
    pass


def near():
    return 0


def encode(numbers):
    out = [lookup(number) for number in numbers]
    return "-".join(out)
"#;
const TABLE: &str = "def lookup(number):\n    return LETTERS[number]\n\n\ndef unused():\n    return 'unused body'\n";
const CALLER: &str = "from pkg.codec import decode\n\n\ndef total(path):\n    numbers = decode(path.read_text())\n    return sum(numbers)\n\n\ndef other():\n    return 1\n";
const TEST: &str = "from pkg.codec import decode\n\n\ndef test_decode():\n    assert decode('b') == [1]\n";

/// A file with so many functions and a class of as many methods.
fn framework() -> String {
    let head =
        |indent: &str, n: usize| format!("{indent}def route_{n}(self, path, handler):\n{indent}    return path\n\n");
    let heads = |indent: &str| (0..40).map(|n| head(indent, n)).collect::<Vec<_>>().concat();
    format!("class App:\n{}\n{}", heads("    "), heads(""))
}

fn shown(target: &Target, tokens: usize) -> Shown {
    of(target, &Tests::default(), &wide(), at(tokens), Told::default())
}

fn codec() -> (tempfile::TempDir, PathBuf) {
    let framework = framework();
    project(&[
        ("pkg/codec.py", CODEC),
        ("pkg/framework.py", &framework),
        ("pkg/table.py", TABLE),
        ("total.py", CALLER),
        ("tests/test_codec.py", TEST),
    ])
}

#[test]
fn bodies_of_callers_and_of_its_twin_come_before_heads_of_the_project() {
    let (_folder, root) = codec();
    let target = target(&root.join("pkg/codec.py"), "decode");
    let caller =
        "# total.py\n# def total(path):\n#     numbers = decode(path.read_text())\n#     return sum(numbers)\n";
    let all = shown(&target, 3000);
    for part in [caller, "    return \"-\".join(out)\n", "#     def route_39(self, path, handler): ...\n"] {
        assert!(all.text.contains(part), "{part}: {}", all.text);
    }
    assert!(!all.text.contains("test_decode"), "tests are shown as tests only: {}", all.text);
    for tokens in (260..3000).step_by(100) {
        let text = shown(&target, tokens).text;
        let bodies = text.contains(caller) && text.contains("    return \"-\".join(out)\n");
        assert!(bodies || !text.contains("def route_"), "{tokens}: {text}");
    }
    assert!(shown(&target, 300).text.contains(caller), "they fit into little room");
}

#[test]
fn callers_of_a_method_belong_to_its_class_or_name_it_before_others_count() {
    let text = "class Stack:\n    def push(self, item):\n        pass\n\n    def extend(self, items):\n        return [self.push(item) for item in items]\n";
    let user = "from stack import Stack\n\ndef fill(stack: Stack):\n    stack.push(1)\n\ndef branch(repository):\n    repository.push('main')\n";
    let (_folder, root) =
        project(&[("stack.py", text), ("user.py", user), ("far.py", "def far(any):\n    any.push(1)\n")]);
    let shown = shown(&target(&root.join("stack.py"), "push"), 700);
    for part in
        ["        return [self.push(item) for item in items]\n", "# def fill(stack: Stack):\n#     stack.push(1)\n"]
    {
        assert!(shown.text.contains(part), "{part}: {}", shown.text);
    }
    let tokens = |what: &str| shown.shown.iter().find(|section| section.what == what).map(|section| section.tokens);
    assert!(tokens("functions that call a method of its name").is_some(), "{:?}", shown.shown);
    assert!(!shown.text.contains("far"), "a file that does not import it is no caller: {}", shown.text);
}

#[test]
fn the_room_is_filled_with_bodies_of_what_these_use() {
    let (_folder, root) = codec();
    let target = target(&root.join("pkg/codec.py"), "decode");
    let all = shown(&target, 4000).text;
    assert!(all.contains("# def lookup(number):\n#     return LETTERS[number]\n"), "its twin uses it: {all}");
    assert!(!all.contains("unused body"), "{all}");

    // Bodies behind the function, of helpers and of other files fill at least half of any room.
    let body = |name: &str, uses: &str| -> String {
        let lines: Vec<String> = (0..12).map(|n| format!("    total = {uses}(total + {n})\n")).collect();
        format!("def {name}(total):\n{}    return total\n\n\n", lines.concat())
    };
    let own = format!(
        "from other import deep\n\n\ndef load(total):\n    pass\n\n\n{}",
        body("dump", "helper") + &body("helper", "deep")
    );
    let other = format!("from own import load\n\n\n{}{}", body("deep", "load"), body("user", "load"));
    let (_folder, root) = project(&[("own.py", &own), ("other.py", &other)]);
    let target = super::target(&root.join("own.py"), "load");
    let all = shown(&target, 5000);
    for part in [
        "def dump(total):\n    total", "def helper(total):\n    total", "# def deep(total):\n#     total",
        "# def user(total):\n#     total",
    ] {
        assert!(all.text.contains(part), "{part}: {}", all.text);
    }
    let most = all.tokens;
    for tokens in (200..2 * most).step_by(50) {
        let shown = shown(&target, tokens);
        assert!(2 * shown.tokens >= tokens.min(most), "{} of {tokens}: {}", shown.tokens, shown.text);
    }
}

fn with_tests(target: &Target, path: PathBuf, text: &str, tokens: usize) -> Shown {
    let tests = Tests { files: vec![(path, text.to_owned())], named: true };
    of(target, &tests, &wide(), at(tokens), Told::default())
}

#[test]
fn fixtures_are_those_of_conftest_that_the_tests_file_neither_defines_nor_imports() {
    let conftest = r#"import pytest
from helpers import letters


@pytest.fixture
def client():
    return "a client of conftest"


@pytest.fixture
def table(test_seed):
    return {"b": test_seed}


@pytest.fixture()
def test_seed():
    return 1


@pytest.fixture
def local():
    return "a local of conftest"


def body():
    return "no fixture"
"#;
    let tests = r"from pkg.codec import decode
from helpers import client


@pytest.fixture
def local(test_rows):
    return test_rows


@pytest.fixture
def test_rows(small):
    return small


def test_decode(client, table, local, body):
    seen = expected(table)
    assert decode(client(local)) == seen


def expected(table):
    return list(table.values())
";
    let outer = "import pytest\n\n\n@pytest.fixture\ndef small():\n    return 'small'\n";
    let (_folder, root) = codec();
    for (path, text) in [("tests/conftest.py", conftest), ("conftest.py", outer), ("tests/test_codec.py", tests)] {
        std::fs::write(root.join(path), text).unwrap();
    }
    let shown =
        with_tests(&target(&root.join("pkg/codec.py"), "decode"), root.join("tests/test_codec.py"), tests, 1500);
    for part in [
        "# def table(test_seed):\n", "# def test_seed():\n", "# def local(test_rows):\n", "# def test_rows(small):\n",
        "# def small():\n", "# def expected(table):\n",
    ] {
        assert!(shown.text.contains(part), "{part}: {}", shown.text);
    }
    for part in ["a client of conftest", "a local of conftest", "no fixture"] {
        assert!(!shown.text.contains(part), "{part}: {}", shown.text);
    }
}

#[test]
fn a_test_is_shown_with_its_body_or_not_at_all() {
    let (_folder, root) = codec();
    let target_of = |path: &str, name: &str| target(&root.join(path), name);
    let tests = "class TestCodec:\n    def test_decode_later(self):\n        \"\"\"Of `decode`.\"\"\"\n        pass\n\n    def test_decode(self):\n        assert decode('b') == [1]\n\n    def test_decode_of_much(self):\n        assert decode('b-c-d-e-f-g-h-i-j-k-l-m-n-o-p') == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]\n";
    let decode = target_of("pkg/codec.py", "decode");
    for tokens in (60..900).step_by(30) {
        let text = with_tests(&decode, root.join("tests/test_codec.py"), tests, tokens).text;
        assert!(!text.contains("test_decode_later") && !text.contains("class TestCodec"), "{tokens}: {text}");
        assert_eq!(text.contains("def test_decode("), text.contains("decode('b')"), "{tokens}: {text}");
        assert_eq!(text.contains("def test_decode_of_much("), text.contains("decode('b-c"), "{tokens}: {text}");
    }
    // Tests in the file itself, and those of files that it sees without an import.
    let (_, name, text) = FILES[1];
    let go = "package p\n\nfunc run(s string) {\n}\n\nfunc use() {\n\trun(\"\")\n}\n";
    let go_tests = "package p\n\nfunc TestRun(t *testing.T) {\n\trun(\"a\")\n}\n";
    let (_folder, root) = project(&[(name, text), ("p/a.go", go), ("p/a_test.go", go_tests)]);
    for tokens in (40..900).step_by(60) {
        let text = shown(&target(&root.join(name), "push"), tokens).text;
        assert!(!text.contains("it_pushes") && !text.contains("mod tests"), "{tokens}: {text}");
        let text = shown(&target(&root.join("p/a.go"), "run"), tokens).text;
        assert!(!text.contains("TestRun"), "{tokens}: {text}");
    }
}
