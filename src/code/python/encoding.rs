//! The encoding that a Python file declares: a comment such as `# -*- coding: latin-1 -*-` on its first or
//! second line (PEP 263).

/// The declared encoding if it is not UTF-8, and its 1-based line.
pub(super) fn declared(bytes: &[u8]) -> Option<(String, usize)> {
    for (index, line) in bytes.split(|&b| b == b'\n').take(2).enumerate() {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_start_matches('\u{feff}').trim_matches([' ', '\t', '\x0c', '\r']);
        if let Some(name) = line.strip_prefix('#').and_then(coding) {
            let plain = name.to_ascii_lowercase().replace('_', "-");
            let utf8 = plain == "utf8" || plain == "utf-8" || plain.starts_with("utf-8-");
            return (!utf8).then_some((name, index + 1));
        }
        // The second line counts only after a line without code.
        if !(line.is_empty() || line.starts_with('#')) {
            return None;
        }
    }
    None
}

/// The name after `coding:` or `coding=` in a comment.
fn coding(comment: &str) -> Option<String> {
    comment.match_indices("coding").find_map(|(at, word)| {
        let rest = comment[at + word.len()..].strip_prefix([':', '='])?.trim_start_matches([' ', '\t']);
        let belongs = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name: String = rest.chars().take_while(|&c| belongs(c)).collect();
        (!name.is_empty()).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_on_the_first_two_lines_count() {
        let latin = |line| Some(("latin-1".to_owned(), line));
        for (text, found) in [
            ("# -*- coding: latin-1 -*-\nx", latin(1)),
            ("#!/usr/bin/python\r\n# vim: set fileencoding=latin-1 :\r\n", latin(2)),
            ("\n \t# coding=latin-1", latin(2)),
            ("x = 1\n# coding: latin-1\n", None),
            ("\n\n# coding: latin-1\n", None),
            ("# coding: UTF_8\n", None),
            ("\u{feff}# coding: utf-8-unix\n", None),
            ("# coding is fun\n", None),
            ("x = '# coding: latin-1'\n", None),
        ] {
            assert_eq!(declared(text.as_bytes()), found, "{text}");
        }
    }
}
