//! Indentation: the style of a file, and adapting a candidate to it.

use super::lines::{self, Line, Lines};

/// One step of indentation in `text`: that of its first indented statement, or four spaces.
pub(super) fn unit(text: &str) -> String {
    let lines = Lines::new(text, 0).filter_map(|s| s.line).filter(|l| l.begins && l.column > 0);
    let first = lines.map(|l| &text[lines::line_start(text, l.first.start)..l.first.start]).next();
    match first {
        Some(white) if white.starts_with('\t') => "\t".to_owned(),
        Some(white) if white.len() <= 8 => white.to_owned(),
        _ => "    ".to_owned(),
    }
}

/// Reindents a trimmed candidate for a function whose `def` is indented by `outer` and whose body must be
/// indented by `want`. If the model used another indentation, below a `def` of its own at `own`, each line
/// gets the wanted one. Lines inside strings stay unchanged.
pub(super) fn reindent(candidate: &str, own: &str, outer: &str, want: &str) -> String {
    let white = |at: usize| &candidate[lines::line_start(candidate, at)..at];
    let comment = |at: usize| candidate[at..].starts_with('#');
    let lines: Vec<_> = Lines::new(candidate, 0).filter_map(|s| s.line).collect();
    let Some(has) = lines.iter().find(|l| l.begins && !comment(l.first.start)).map(|l| white(l.first.start)) else {
        return candidate.to_owned();
    };
    if has == want {
        return candidate.to_owned();
    }
    // One step of indentation in the candidate and in the file. If the outer part differs, as between spaces
    // and tabs, the file's own step determines the number of steps down to this body.
    let file_step = want.strip_prefix(outer).unwrap_or(want);
    let depth = if file_step.is_empty() { 1 } else { (want.len() / file_step.len()).max(1) };
    let begins = || lines.iter().filter(|l| l.begins).map(|l| white(l.first.start).len());
    let deeper = || begins().filter(|&n| n > has.len()).min().map(|n| n - has.len());
    let step = match has.strip_prefix(own) {
        Some(step) if !step.is_empty() => step.len(),
        _ => deeper().unwrap_or(has.len() / depth).max(1),
    };
    moved(candidate, &lines, (has, want), (step, file_step))
}

/// See [`crate::code::rules::Rules::placed`].
pub(super) fn placed(text: &str, want: &str, file_step: &str) -> String {
    let white = |at: usize| &text[lines::line_start(text, at)..at];
    let lines: Vec<_> = Lines::new(text, 0).filter_map(|s| s.line).collect();
    let Some(has) = lines.first().map(|l| white(l.first.start)) else { return text.to_owned() };
    let deeper = lines.iter().filter(|l| l.begins).filter_map(|l| white(l.first.start).strip_prefix(has));
    let step = deeper.filter(|more| !more.is_empty()).min_by_key(|more| more.len());
    // A step that is longer than any line leaves the rest of the line as it is.
    let step = step.filter(|step| !file_step.is_empty() && *step != file_step).map_or(usize::MAX, str::len);
    moved(text, &lines, (has, want), (step, file_step))
}

/// The text with `want` in place of `has` in front of its lines, and with other steps behind it.
fn moved(text: &str, lines: &[Line], (has, want): (&str, &str), (step, file_step): (usize, &str)) -> String {
    let white = |at: usize| &text[lines::line_start(text, at)..at];
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for line in lines {
        let at = line.first.start;
        let Some(more) = white(at).strip_prefix(has) else { continue };
        out.push_str(&text[copied..lines::line_start(text, at)]);
        out.push_str(want);
        out.push_str(&file_step.repeat(more.len() / step));
        out.push_str(&more[more.len() / step * step..]);
        copied = at;
    }
    out + &text[copied..]
}
