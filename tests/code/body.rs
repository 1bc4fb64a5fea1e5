//! Where a function ends, and when two bodies are the same: tables, and properties of any text.

use bass_tui::code::{Place, Target, function_end, function_names, normalise, trim_candidate};
use bass_tui::language::Language::{self, Go, JavaScript, Python, Rust, TypeScript};
use proptest::prelude::*;

/// Indentation, what belongs to the function, what follows.
const ENDS: &[(usize, &str, &str)] = &[
    (0, "    return 1\n", "\ndef g():\n"),
    (0, "    return 1\n", "x = 1\n"),
    (0, "    return 1\n", "\n\n# comment\n"),
    (0, "    return 1\n", "@decorated\n"),
    (0, "    return 1\n", "    \n\t\n\"\"\"text\"\"\"\n"),
    (0, "    return 1\r\n", "\r\n\r\nprint(1)\r\n"),
    (4, "        return 1\n", "    def g(self):\n"),
    (4, "        return 1\n", "\n    # next\n"),
    (4, "        return 1\n        # last\n", "\nclass B:\n"),
    (0, "    x = [\n1,\n# one\n]\n", "y\n"),
    (0, "    x = '''\ndef no():\n'''\n", "y\n"),
    (0, "    x = f'''\n{1}\n'''\n    y = f\"{'#'}(\"\n", "y\n"),
    (0, "    x = \"(\" # ( '\n", "y\n"),
    (0, "    x = '\\'('\n", "y\n"),
    (0, "    x = 1 + \\\n2\n", "y\n"),
    (0, "    x = r'\\'('\n", "y\n"),
    (0, "    x = (1,\n", "def g():\n"),
    (0, "    x = (1,\n", "async def g():\n"),
    (0, "    if x:\n\n        return 1\n\n    return 2\n", "\n\ny\n"),
    (8, "\t\treturn 1\n", "\tx\n"),
    (0, "", "return 1\n"),
];

#[test]
fn functions_end_where_the_indentation_leaves_them() {
    for &(indent, body, rest) in ENDS {
        let text = format!("{body}{rest}");
        assert_eq!(function_end(Python, indent, &text), Some(body.len()), "{text}");
        assert_eq!(function_end(Python, indent, body), None, "{body}");
        assert_eq!(trim_candidate(Python, indent, &text), body.replace("\r\n", "\n"), "{text}");
    }
}

#[test]
fn open_functions_go_on() {
    for text in [
        "", "    ", "    return 1", "    return 1\n\n", "    x = (1,\n2\ny\n", "    '''\nx\ndef g():\n",
        "    x = [\nde", "    x = [\ndefine\n", "    x = [y\nfor z in w\nasync", "    x = (\nclass_\n", "    \\\nx\n",
    ] {
        assert_eq!(function_end(Python, 0, text), None, "{text:?}");
    }
}

#[test]
fn comments_and_white_space_make_no_difference() {
    let same = [
        "    if x:  # why\n        return(1)\n\n    return [1,\n  2]\n",
        "    if x:\n        return (1)\n    # else\n    return [1, 2]\n\n\n",
        "\tif x :\r\n\t\t\treturn ( 1 ) \r\n\treturn [1,\\\r\n2]\r\n",
    ];
    for text in same {
        assert_eq!(normalise(Python, text), normalise(Python, same[0]), "{text}");
    }
    for different in [
        "    return '# a'\n", "    return '# b'\n", "    return '#  b'\n", "    return a\n", "    return ab\n",
        "    return a b\n",
    ] {
        let others = [
            "    return '# a'\n", "    return '# b'\n", "    return '#  b'\n", "    return a\n", "    return ab\n",
            "    return a b\n",
        ];
        let equal = others.iter().filter(|o| normalise(Python, o) == normalise(Python, different)).count();
        assert_eq!(equal, 1, "{different}");
    }
    assert_ne!(
        normalise(Python, "    if x:\n        y\n    z\n"),
        normalise(Python, "    if x:\n        y\n        z\n")
    );
}

/// Text made of pieces that matter to the rules.
fn pythonish() -> impl Strategy<Value = String> {
    let pieces = [
        "\n", "\n\n", "\r\n", "    ", "  ", "\t", " ", "x", "def f", "def ", "async def ", "class ", "return 1", "'",
        "\"", "'''", "\"\"\"", "f'", "f\"\"\"", "{", "}", "{{", "(", ")", "[", "]", "#", "\\", "\\\n", "\\\r\n", ":",
        "@", "é", "=", ",", "\n    ", "\n        ", "pass", "...", "\u{feff}", "\x0c",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|p| p.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn the_end_never_moves(text in pythonish(), indent in prop::sample::select(vec![0_usize, 2, 4, 8])) {
        let end = function_end(Python, indent, &text);
        let mut found = None;
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let now = function_end(Python, indent, &text[..at]);
            prop_assert!(found.is_none() || now == found, "{found:?} became {now:?} at {at}");
            found = now;
            prop_assert!(now.is_none_or(|k| k <= at && text.is_char_boundary(k)));
        }
        prop_assert_eq!(found, end);
    }

    #[test]
    fn trimming_cuts_and_is_done_once(text in pythonish(), indent in prop::sample::select(vec![0_usize, 4])) {
        let text = text.replace('\u{feff}', "").replace("\r\n", "\n");
        let trimmed = trim_candidate(Python, indent, &text);
        prop_assert!(text.starts_with(trimmed.trim_end()));
        prop_assert!(trimmed.is_empty() || trimmed.ends_with('\n') && !trimmed.ends_with("\n\n"));
        prop_assert_eq!(trim_candidate(Python, indent, &trimmed), trimmed);
    }

    #[test]
    fn normalising_ignores_line_ends(text in pythonish()) {
        let text = text.replace('\r', "");
        // Inside strings line ends are content; elsewhere they are not.
        if !text.contains(['\'', '"']) {
            prop_assert_eq!(normalise(Python, &text.replace('\n', "\r\n")), normalise(Python, &text));
        }
    }

    /// On any text, whatever is found can be shown and spliced, and nothing below the body changes.
    #[test]
    fn only_the_body_changes(before in pythonish(), after in pythonish(), candidate in pythonish(), mark in any::<bool>()) {
        let text = format!("{}{before}\ndef f(x):\n    '''Doc.'''\n{after}", if mark { "\u{feff}" } else { "" });
        let Ok(target) = Target::in_text(&text, Python, &Place::Any) else { return Ok(()) };
        prop_assert!(target.prompt().ends_with('\n'));
        prop_assert!(target.function.start <= target.body.start && target.body.start <= target.body.end);
        prop_assert_eq!(target.function.end, target.body.end);
        let spliced = target.splice(&candidate);
        // What comes with a body stands above it.
        let is_alone = !target.brings(&candidate);
        let replaced = target.replaced();
        prop_assert!(!is_alone || spliced.starts_with(&target.text[..replaced.start]));
        // Of the text above it only comments may go with the old body.
        let asking = &target.text[replaced.start..target.body.start];
        prop_assert!(asking.lines().all(|line| line.trim_start().starts_with('#')));
        prop_assert!(spliced.ends_with(&target.text[target.body.end..]));
        let bytes = target.splice_bytes(&candidate);
        let decoded = String::from_utf8(bytes).unwrap().replace("\r\n", "\n");
        prop_assert_eq!(decoded.strip_prefix('\u{feff}').unwrap_or(&decoded), spliced.replace("\r\n", "\n"));
    }
}

/// Language, what belongs to the function, its closing brace and what follows.
const BRACE_ENDS: &[(Language, &str, &str)] = &[
    (Rust, "    x\n", "}\n\nfn g() {}\n"),
    (Rust, "    if x { 1 } else { 2 }\n", "}"),
    (Rust, "    let c = '{'; let s = \"}\\\"}\"; // }\n", "}\n"),
    (Rust, "    let r = r#\"}\"#; let b = b'}'; /* } /* } */ } */\n", "}\n"),
    (Rust, "    fn h<'a>(x: &'a str) -> &'a str { x }\n    'l: loop { break 'l }\n", "}"),
    (Rust, "", "}"),
    (Go, "\ts := `}`\n\tr := '}'\n\tfor { break }\n", "}\n\nfunc g() {\n"),
    (Go, "\treturn map[string]struct{}{\"}\": {}}\n", "}\n"),
    (JavaScript, "  return `${a ? `}` : '}'} }`;\n", "};\n"),
    (JavaScript, "  return s.replace(/[}/]/g, '{') / 2; // }\n", "}\nf();\n"),
    (JavaScript, "  const o = { a: { b() {} } };\n  /* } */\n", "}, b: 1 };\n"),
    (JavaScript, "  return <p title=\"}\">it's {x} it's</p>;\n", "}\n"),
    (TypeScript, "  const a: { b: string } = { b: '}' };\n", "  }\n\n  g() {}\n"),
];

#[test]
fn functions_end_where_their_braces_balance() {
    for &(language, body, rest) in BRACE_ENDS {
        let text = format!("{body}{rest}");
        let closed = text.len() - rest.trim_start().len() + 1;
        assert_eq!(function_end(language, 0, &text), Some(closed), "{text}");
        assert_eq!(function_end(language, 0, body), None, "{body}");
        // With or without its closing brace, a candidate is the same body.
        assert_eq!(trim_candidate(language, 0, &text), body, "{text}");
        assert_eq!(trim_candidate(language, 0, &text[..closed]), body, "{text}");
        assert_eq!(trim_candidate(language, 0, body), body, "{text}");
        assert_eq!(normalise(language, &text), normalise(language, body), "{text}");
    }
}

#[test]
fn comments_and_white_space_make_no_difference_between_braces() {
    for (language, same, different) in [
        (
            Rust,
            &["    x.a(1, 2) // why\n}\n", "x\n  .a(1,2)", "\tx.a( 1,\r\n2 ) /* /* a */ */ }"][..],
            &["x.a(1, 3)", "\"x.a(1, 2)\"", "x.a(1 2)", "a & &b", "a && b", "\"a  b\"", "\"a b\"", "'a'", "'b'"][..],
        ),
        (
            Go,
            &["\tx(a,\n\t\tb)\n\n\ty()\n}", "x(a, b) // c\ny()\n"],
            &["x(a, b); y()", "x(a, b)\ny\n()", "`a  b`", "`a b`", "'a'"],
        ),
        (
            JavaScript,
            &["  f({a: 1});\n  return /a b/;\n}", "f({ a : 1 }) ; /* x */ return /a b/ ;"],
            &["return\nx", "return x", "return /a  b/", "`a  b`", "`a b`", "i++ + j", "i + ++j", "a\n(b)", "a(b)"],
        ),
    ] {
        for text in same {
            assert_eq!(normalise(language, text), normalise(language, same[0]), "{text}");
        }
        let keys: std::collections::HashSet<String> =
            different.iter().chain(&same[..1]).map(|t| normalise(language, t)).collect();
        assert_eq!(keys.len(), different.len() + 1, "{keys:?}");
    }
}

/// Text made of pieces that matter to the rules of brace languages.
fn bracish() -> impl Strategy<Value = String> {
    let pieces = [
        "\n", "\r\n", "\r", "    ", "\t", " ", "x", "f", "r", "br", "b", "return", "{", "}", "{", "}", "${", "(", ")",
        "[", "]", "\"", "'", "`", "'a", "'}'", "\\", "/", "//", "/*", "*/", "#", "r#\"", "\"#", "=", "=>", ">", "<",
        ";", ",", ".", "é", "+", "++", "fn f() ", "func f() ", "function f() ", "class A ", "impl A ",
        "const f = (x) => ", "\u{feff}", "\u{c}", "@",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..40).prop_map(|p| p.concat())
}

const BRACES: [Language; 4] = [JavaScript, TypeScript, Rust, Go];

/// The start of a character in Rust, or, with a line break behind it, the brace that closes the function.
#[test]
fn a_brace_at_the_very_end_is_read_as_it_will_stand() {
    let trimmed = trim_candidate(Rust, 0, "'}");
    assert_eq!(trim_candidate(Rust, 0, &trimmed), trimmed);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn the_end_between_braces_never_moves(text in bracish(), language in prop::sample::select(BRACES.to_vec())) {
        let end = function_end(language, 0, &text);
        let mut found = None;
        for (at, _) in text.char_indices().chain([(text.len(), ' ')]) {
            let now = function_end(language, 0, &text[..at]);
            prop_assert!(found.is_none() || now == found, "{found:?} became {now:?} at {at}");
            found = now;
            let at_brace = now.is_none_or(|k| k <= at && text[..k].ends_with('}'));
            prop_assert!(at_brace);
        }
        prop_assert_eq!(found, end);
    }

    #[test]
    fn trimming_between_braces_is_done_once(text in bracish(), language in prop::sample::select(BRACES.to_vec())) {
        let text = text.replace(['\u{feff}', '\r'], "");
        let trimmed = trim_candidate(language, 0, &text);
        prop_assert!(text.starts_with(trimmed.trim_end()));
        prop_assert!(trimmed.is_empty() || trimmed.ends_with('\n') && !trimmed.ends_with("\n\n"));
        prop_assert_eq!(trim_candidate(language, 0, &trimmed), trimmed);
    }

    /// On any text, whatever is found can be shown and spliced, and nothing below the body changes.
    #[test]
    fn only_the_inside_of_the_braces_changes(
        before in bracish(),
        after in bracish(),
        candidate in bracish(),
        language in prop::sample::select(BRACES.to_vec()),
        line in 1_usize..12,
    ) {
        let stub = match language {
            Rust => "fn g() {\n}",
            Go => "func g() {\n}",
            _ => "function g() {\n}",
        };
        let text = format!("{before}\n{stub}\n{after}");
        for function in function_names(language, &text) {
            prop_assert!(function.line <= text.lines().count().max(1));
        }
        let Ok(target) = Target::in_text(&text, language, &Place::Line(line)) else { return Ok(()) };
        prop_assert!(target.prompt().ends_with('\n'));
        prop_assert!(target.function.start <= target.body.start && target.body.start <= target.body.end);
        prop_assert!(target.body.end <= target.function.end);
        let spliced = target.splice(&candidate);
        // What comes with a body stands above it.
        let is_alone = !target.brings(&candidate);
        prop_assert!(!is_alone || spliced.starts_with(&target.text[..target.body.start]));
        prop_assert!(spliced.ends_with(&target.text[target.body.end..]));
        let bytes = String::from_utf8(target.splice_bytes(&candidate)).unwrap();
        let bare = |text: &str| text.replace(['\r', '\u{feff}'], "");
        prop_assert_eq!(bare(&bytes), bare(&spliced));
    }
}

#[test]
fn spaces_below_a_head_with_tabs_are_its_body() {
    let file = "class A:\n\tdef f(self, x):\n\t\tpass\n\n\tdef g(self):\n\t\tpass\n";
    let method = |file: &str| Target::in_text(file, Python, &Place::Function("A.f".to_owned())).unwrap();
    let target = method(file);
    let wanted = file.replacen("pass\n", "if x:\n\t\t\treturn 1\n\t\treturn 2\n", 1);
    for candidate in [
        "        if x:\n            return 1\n        return 2\n\n    def g(self):\n        return 3\n",
        "\t\tif x:\n\t\t\treturn 1\n\t\treturn 2\n\n\tdef g(self):\n\t\treturn 3\n",
        "    if x:\n        return 1\n    return 2\n\ndef g(self):\n    return 3\n",
    ] {
        assert_eq!(target.splice(candidate), wanted, "{candidate}");
    }
    // A method that is written like a function.
    let file = "class A:\n    def f(self, x):\n        pass\n";
    let target = method(file);
    let wanted = "class A:\n    def f(self, x):\n        if x:\n            return 1\n        return 2\n";
    assert_eq!(target.splice("    if x:\n        return 1\n    return 2\n\nprint(1)\n"), wanted);
    assert_eq!(target.splice("    def g(self):\n        return 1\n").matches("return").count(), 0);
    assert_eq!(target.splice("x = 1\n").matches("x = 1").count(), 0);
}
