//! A kept run as Markdown.

use std::fmt::Write as _;

use super::show;
use crate::history::Kept;
use crate::job::label;
use crate::untrusted::{clean_line, code};

/// Prompt, settings, a table of the candidates, each body once, and the change of what was taken.
pub fn markdown(kept: &Kept) -> String {
    let head = &kept.head;
    let language = head.language.as_deref().unwrap_or_default();
    let mut out = format!("# {}\n\n", cell(&head.subject()));
    for (name, text) in show::head(kept) {
        let _ = writeln!(out, "- {name}: {}", cell(&text));
    }
    let _ = write!(out, "\n## Prompt\n\n{}", fenced(language, kept.stub()));
    out.push_str("\n## Candidates\n\n| | rank | verdict | tokens | logprob | |\n|---|---|---|---|---|---|\n");
    let candidates = kept.candidates();
    let ranking = kept.ranking();
    for (place, &index) in ranking.iter().enumerate() {
        let candidate = &candidates[index];
        let verdict = candidate.tested.as_ref().map(show::verdict).unwrap_or_default();
        let mean = candidate.mean_logprob.map(|mean| format!("{mean:.2}")).unwrap_or_default();
        let same = candidate.duplicate_of.map(|of| format!("same as {}", label(of)));
        let picked = (kept.picked() == Some(index)).then(|| "picked".to_owned());
        let is_taken = kept.taken().is_some_and(|taken| taken.candidate == Some(index));
        let notes: Vec<String> = [picked, is_taken.then(|| "taken".to_owned()), same].into_iter().flatten().collect();
        let (rank, tokens) = (place + 1, candidate.tokens);
        let _ = writeln!(
            out,
            "| {} | {rank} | {} | {tokens} | {mean} | {} |",
            label(index),
            cell(&verdict),
            notes.join(", ")
        );
    }
    for &index in ranking.iter().filter(|index| candidates[**index].duplicate_of.is_none()) {
        let candidate = &candidates[index];
        let _ = write!(
            out,
            "\n### {}\n\n{}\n\n{}",
            label(index),
            cell(&show::words(candidate)),
            fenced(language, &candidate.text)
        );
    }
    if let Some(taken) = kept.taken().filter(|taken| !taken.diff.is_empty()) {
        let _ = write!(out, "\n## Taken\n\n{}", fenced("diff", &taken.diff));
    }
    out
}

/// A text in a table or a paragraph: one line, without marks that Markdown reads.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in clean_line(text, 400).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!' => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

/// A block of code, in a fence that is longer than any within it.
fn fenced(language: &str, text: &str) -> String {
    let text = code(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{}\n{}\n{fence}\n", clean_line(language, 20), text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_a_model_stays_in_its_fence_and_its_cell() {
        assert_eq!(fenced("python", "a\n````\n# b\n"), "`````python\na\n````\n# b\n`````\n");
        assert_eq!(cell("a|b\n<script>\u{1b}[2J `x`"), "a\\|b &lt;script> \\`x\\`");
    }
}
