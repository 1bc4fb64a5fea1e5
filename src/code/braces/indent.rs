//! Indentation: the style of a file, and adapting a candidate to it.

use super::lex::{Kind, Token};
use super::{Table, firsts, line_start, tokens};

/// One step of indentation in `text`: that of its first indented line of code, or the language's default.
pub(super) fn unit(table: &Table, text: &str, tokens: &[Token]) -> String {
    let code = firsts(tokens).filter(|t| t.kind != Kind::Comment);
    let mut indented = code.map(|t| &text[line_start(text, t.start)..t.start]);
    match indented.find(|white| !white.is_empty()) {
        Some(white) if white.starts_with('\t') => "\t".to_owned(),
        Some(white) if white.len() <= 8 && white.bytes().all(|b| b == b' ') => white.to_owned(),
        _ => table.unit.to_owned(),
    }
}

/// Reindents a trimmed candidate for a function whose head is indented by `outer` and whose body must be
/// indented by `want`. If the model used another indentation, below a head of its own at `own`, each line
/// gets the wanted one. Lines inside strings stay unchanged.
pub(super) fn reindent(table: &Table, candidate: &str, own: &str, outer: &str, want: &str) -> String {
    let white = |at: usize| &candidate[line_start(candidate, at)..at];
    let all = tokens(table, candidate);
    let firsts: Vec<&Token> = firsts(&all).collect();
    let Some(has) = firsts.iter().find(|t| t.kind != Kind::Comment).or(firsts.first()).map(|t| white(t.start)) else {
        return candidate.to_owned();
    };
    if has == want {
        return candidate.to_owned();
    }
    let step = step(candidate, &firsts, has).unwrap_or_else(|| {
        // One level only: nothing else is indented, so any step will do.
        has.strip_prefix(own).map_or(has.len(), str::len).max(1)
    });
    let file_step = want.strip_prefix(outer).filter(|s| !s.is_empty()).unwrap_or(want);
    moved(candidate, &firsts, (has, want), (step, file_step))
}

/// See [`super::super::rules::Rules::placed`].
pub(super) fn placed(table: &Table, text: &str, want: &str, file_step: &str) -> String {
    let all = tokens(table, text);
    let firsts: Vec<&Token> = firsts(&all).collect();
    let white = |t: &Token| &text[line_start(text, t.start)..t.start];
    let Some(has) = firsts.first().map(|t| white(t)) else { return text.to_owned() };
    let is_same = firsts.iter().any(|t| white(t).strip_prefix(has) == Some(file_step));
    let step = step(text, &firsts, has).filter(|step| !file_step.is_empty() && (*step != file_step.len() || !is_same));
    // A step that is longer than any line leaves the rest of the line as it is.
    moved(text, &firsts, (has, want), (step.unwrap_or(usize::MAX), file_step))
}

/// The text with `want` in place of `has` in front of its lines, and with other steps behind it.
fn moved(text: &str, firsts: &[&Token], (has, want): (&str, &str), (step, file_step): (usize, &str)) -> String {
    let white = |at: usize| &text[line_start(text, at)..at];
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for token in firsts {
        let has_here = white(token.start);
        out.push_str(&text[copied..line_start(text, token.start)]);
        if let Some(more) = has_here.strip_prefix(has) {
            out.push_str(want);
            out.push_str(&file_step.repeat(more.len() / step));
            out.push_str(&more[more.len() / step * step..]);
        } else {
            // A label, or a line further to the left.
            let left = has.len().saturating_sub(has_here.len()).div_ceil(step).saturating_mul(file_step.len());
            out.push_str(&want[..want.len().saturating_sub(left)]);
        }
        copied = token.start;
    }
    out + &text[copied..]
}

/// One step of indentation in the candidate: the smallest one deeper than its first line.
fn step(candidate: &str, firsts: &[&Token], has: &str) -> Option<usize> {
    let deeper = firsts.iter().filter_map(|t| {
        let white = &candidate[line_start(candidate, t.start)..t.start];
        white.strip_prefix(has).map(str::len).filter(|&n| n > 0 && t.kind != Kind::Comment)
    });
    deeper.min()
}
