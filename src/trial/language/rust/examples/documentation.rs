//! The documentation of a function, as the compiler reads it: comments (`///`, `/** */`) and attributes
//! (`#[doc = "…"]`, also in `#[cfg_attr(…)]`). Pure.

use crate::code::blanked;
use crate::language::Language;

/// A line of documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Line number, from 0.
    pub number: usize,
    pub text: String,
    /// Its condition: the argument of `cfg_attr`.
    pub condition: Option<String>,
}

/// The documentation lines of a function, whose `head` begins in line `first`, and true if a macro such as
/// `include_str!` adds more.
pub fn lines(head: &str, first: usize) -> (Vec<Line>, bool) {
    let code = blanked(Language::Rust, head);
    let (mut lines, mut is_partly_elsewhere, mut at) = (Vec::new(), false, 0);
    loop {
        at = head.len() - head[at..].trim_start().len();
        let (rest, number) = (&head[at..], first + head[..at].matches('\n').count());
        let mut add = |number, text: &str, condition: Option<&str>| {
            lines.push(Line { number, text: text.to_owned(), condition: condition.map(str::to_owned) });
        };
        let bracket = rest.find('[').unwrap_or_default();
        at += if rest.starts_with("//") {
            let line = rest.lines().next().unwrap_or_default();
            if let Some(text) = line.strip_prefix("///").filter(|text| !text.starts_with('/')) {
                add(number, text.strip_prefix(' ').unwrap_or(text), None);
            }
            line.len()
        } else if rest.starts_with("/*") {
            let length = comment_length(rest);
            let inside = rest[..length].strip_prefix("/**").filter(|inside| !inside.starts_with(['*', '/']));
            let inside = inside.map(|inside| inside.strip_suffix("*/").unwrap_or(inside));
            inside.into_iter().flat_map(of_block).zip(number..).for_each(|(text, number)| add(number, text, None));
            length
        } else if rest.starts_with("#![") || rest.starts_with("#[") {
            let end = closing(&code[at + bracket..]).map(|end| bracket + end + 1);
            let Some(length) = end else { return (lines, is_partly_elsewhere) };
            // Inner documentation describes the file.
            if bracket == 2 {
                at += length;
                continue;
            }
            for (condition, value) in docs(&rest[2..length - 1], &code[at + 2..at + length - 1], None) {
                match literal(value) {
                    Some(text) => text.split('\n').zip(number..).for_each(|(text, number)| {
                        add(number, text.strip_prefix(' ').unwrap_or(text), condition);
                    }),
                    None => is_partly_elsewhere = true,
                }
            }
            length
        } else {
            return (lines, is_partly_elsewhere);
        };
    }
}

/// The values of `doc = …` inside an attribute, each with its condition.
fn docs<'a>(text: &'a str, code: &str, condition: Option<&'a str>) -> Vec<(Option<&'a str>, &'a str)> {
    let start = text.len() - text.trim_start().len();
    let (text, code) = (&text[start..], &code[start..]);
    if let Some(value) = text.strip_prefix("doc").and_then(|rest| rest.trim_start().strip_prefix('=')) {
        return vec![(condition, value.trim())];
    }
    let open = code.find('(').filter(|open| code[..*open].trim() == "cfg_attr");
    let Some(open) = open.filter(|_| condition.is_none()) else { return Vec::new() };
    let end = open + closing(&code[open..]).unwrap_or(code.len() - open);
    let (mut parts, mut from, mut depth) = (Vec::new(), open + 1, 0);
    for (i, byte) in code.bytes().enumerate().take(end).skip(from) {
        depth += i32::from(matches!(byte, b'(' | b'[')) - i32::from(matches!(byte, b')' | b']'));
        if byte == b',' && depth == 0 {
            parts.push(from..i);
            from = i + 1;
        }
    }
    parts.push(from..end);
    let condition = parts.first().map(|part| text[part.clone()].trim());
    parts.iter().skip(1).flat_map(|part| docs(&text[part.clone()], &code[part.clone()], condition)).collect()
}

/// Index of the bracket that closes the one at the start of the code.
fn closing(code: &str) -> Option<usize> {
    let mut depth = 0;
    code.bytes().position(|byte| {
        depth += i32::from(matches!(byte, b'(' | b'[')) - i32::from(matches!(byte, b')' | b']'));
        depth == 0
    })
}

/// Length of the comment at the start of a text. Comments may be nested.
fn comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    loop {
        at += match text.as_bytes().get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                2
            }
            Some(b"*/") => {
                depth -= 1;
                2
            }
            Some(_) => 1,
            None => return text.len(),
        };
        if depth == 0 {
            return at;
        }
    }
}

/// The lines of a block comment, without their leading stars.
fn of_block(inside: &str) -> Vec<&str> {
    let is_starred = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('*');
    let have_stars = inside.lines().skip(1).all(|line| is_starred(&line));
    let bare = |(i, line): (usize, _)| {
        let line: &str = line;
        let line = if i > 0 && have_stars { line.trim_start().trim_start_matches('*') } else { line };
        line.strip_prefix(' ').unwrap_or(line)
    };
    inside.lines().enumerate().map(bare).collect()
}

/// The value of a literal.
fn literal(text: &str) -> Option<String> {
    if let Some(raw) = text.strip_prefix('r') {
        let inside = raw.trim_matches('#');
        return Some(inside.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    let mut rest = text.strip_prefix('"')?.strip_suffix('"')?;
    let mut value = String::new();
    while let Some((plain, escaped)) = rest.split_once('\\') {
        value.push_str(plain);
        let mark = escaped.chars().next()?;
        rest = &escaped[mark.len_utf8()..];
        match mark {
            'n' => value.push('\n'),
            't' => value.push('\t'),
            'r' | '0' => {}
            '\n' => rest = rest.trim_start(),
            'x' => {
                value.push(char::from(u8::from_str_radix(rest.get(..2)?, 16).ok()?));
                rest = &rest[2..];
            }
            'u' => {
                let (digits, after) = rest.strip_prefix('{')?.split_once('}')?;
                value.push(char::from_u32(u32::from_str_radix(&digits.replace('_', ""), 16).ok()?)?);
                rest = after;
            }
            other => value.push(other),
        }
    }
    Some(value + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(head: &str) -> Vec<(usize, String)> {
        lines(head, 3).0.into_iter().map(|line| (line.number, line.text)).collect()
    }

    #[test]
    fn comments_and_attributes_are_documentation() {
        let head = "/// One.\n//// no\n// no\n#[inline] /// Two ]\n#[doc = \"Three\\n \\\"4\\\" \\u{e9}\"]\n#[doc = r#\"\"Five\"\n  six\"#]\n\
            #[doc(hidden)]\n#[must_use = \"///\"]\npub fn f(/// no\n";
        let expected = [(3, "One."), (6, "Two ]"), (7, "Three"), (8, "\"4\" é"), (8, "\"Five\""), (9, " six")];
        assert_eq!(read(head), expected.map(|(number, text)| (number, text.to_owned())));
        let starred = "/** One.\n     * Two\n     *\n     *   three */ pub fn f()";
        assert_eq!(read(starred), [(3, "One."), (4, "Two"), (5, ""), (6, "  three ")].map(|(n, t)| (n, t.to_owned())));
        let plain = "/**\n Two /* nested */\n\n   * three\n*/\n/*** no */ /**/ fn f()";
        let expected = [(3, ""), (4, "Two /* nested */"), (5, ""), (6, "  * three")];
        assert_eq!(read(plain), expected.map(|(number, text)| (number, text.to_owned())));
    }

    #[test]
    fn conditions_and_what_lies_elsewhere_are_known() {
        let head = "#[cfg_attr(all(feature = \"a,b\", unix), doc = \"One\", inline, doc = \"Two\")]\n#[cfg_attr(x, must_use)]\nfn f()";
        let (found, is_partly_elsewhere) = lines(head, 0);
        let found: Vec<_> = found.iter().map(|line| (line.text.as_str(), line.condition.as_deref())).collect();
        let condition = Some("all(feature = \"a,b\", unix)");
        assert_eq!((found, is_partly_elsewhere), (vec![("One", condition), ("Two", condition)], false));
        for elsewhere in ["include_str!(\"a.md\")", "concat!(\"a\", \"b\")"] {
            assert_eq!(lines(&format!("#[doc = {elsewhere}]\nfn f()"), 0), (Vec::new(), true));
        }
        for odd in [
            "#[",
            "#[doc",
            "#[doc = \"",
            "#[doc = \"\\\"]",
            "#[doc = \"\\x\"]",
            "/**",
            "/*",
            "///",
            "#[cfg_attr(",
            "#[cfg_attr(a]",
        ] {
            let _ = lines(odd, 0);
            let _ = lines(&format!("{odd}\nfn f()"), 0);
        }
    }
}
