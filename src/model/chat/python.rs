//! Python's part of templates: methods of strings, lists and dictionaries, its white space, its dates.
//! Results that can be much larger than their arguments are charged as steps before they are made.

use minijinja::value::{Kwargs, Tuple, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};
use minijinja_contrib::pycompat::unknown_method_callback;

/// Bytes that cost a step, as in the engine.
pub const BYTES: usize = 64;
/// The date that templates are told, always the same: a prompt must not depend on the day.
const DATE: &[(&str, &str)] = &[
    ("-d", "1"),
    ("-m", "1"),
    ("-H", "0"),
    ("-I", "12"),
    ("-M", "0"),
    ("-S", "0"),
    ("-j", "1"),
    ("-y", "25"),
    ("Y", "2025"),
    ("y", "25"),
    ("C", "20"),
    ("m", "01"),
    ("d", "01"),
    ("e", " 1"),
    ("j", "001"),
    ("B", "January"),
    ("b", "Jan"),
    ("h", "Jan"),
    ("A", "Wednesday"),
    ("a", "Wed"),
    ("w", "3"),
    ("u", "3"),
    ("U", "00"),
    ("W", "00"),
    ("V", "01"),
    ("G", "2025"),
    ("H", "00"),
    ("I", "12"),
    ("p", "AM"),
    ("M", "00"),
    ("S", "00"),
    ("f", "000000"),
    ("z", ""),
    ("Z", ""),
    ("F", "2025-01-01"),
    ("D", "01/01/25"),
    ("x", "01/01/25"),
    ("T", "00:00:00"),
    ("X", "00:00:00"),
    ("R", "00:00"),
    ("c", "Wed Jan  1 00:00:00 2025"),
    ("n", "\n"),
    ("t", "\t"),
    ("%", "%"),
];

/// The date in this format.
pub fn date(format: &str) -> String {
    let mut out = String::new();
    let mut rest = format;
    while let Some((before, code)) = rest.split_once('%') {
        out += before;
        let known = DATE.iter().find(|(name, _)| code.starts_with(name));
        out += known.map_or("%", |(_, value)| value);
        rest = &code[known.map_or(0, |(name, _)| name.len())..];
    }
    out + rest
}

/// White space at which Python strips and splits.
fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

/// Takes the steps for so many bytes.
pub fn charge(state: &State, bytes: usize) -> Result<(), Error> {
    state.consume_fuel((bytes / BYTES) as u64)
}

pub fn invalid(problem: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, problem.into())
}

/// The text without these characters, or white space, at its ends.
pub fn stripped<'a>(text: &'a str, chars: Option<&str>, left: bool, right: bool) -> &'a str {
    let is = |c: char| chars.map_or_else(|| is_space(c), |chars| chars.contains(c));
    let text = if left { text.trim_start_matches(is) } else { text };
    if right { text.trim_end_matches(is) } else { text }
}

/// A method that the engine has not.
pub fn method(state: &mut State, value: &Value, name: &str, args: &[Value]) -> Result<Value, Error> {
    if let Some(text) = value.as_str() {
        charge(state, text.len())?;
        return of_text(state, value, text, name, args);
    }
    match (value.kind(), name) {
        (ValueKind::Seq, "index") => {
            let (what,): (&Value,) = from_args(args)?;
            let found = value.try_iter()?.position(|item| item == *what);
            found.map(Value::from).ok_or_else(|| invalid("the value is not in the list"))
        }
        (ValueKind::Seq | ValueKind::Map, "copy") => {
            let () = from_args(args)?;
            Ok(value.clone())
        }
        _ => unknown_method_callback(state, value, name, args),
    }
}

fn of_text(state: &mut State, value: &Value, text: &str, name: &str, args: &[Value]) -> Result<Value, Error> {
    match name {
        "strip" | "lstrip" | "rstrip" => {
            let (chars,): (Option<&str>,) = from_args(args)?;
            Ok(stripped(text, chars, name != "rstrip", name != "lstrip").into())
        }
        "split" | "rsplit" => {
            let (sep, most, more): (Option<Value>, Option<i64>, Kwargs) = from_args(args)?;
            let sep = sep.or(more.get("sep")?).filter(|sep| !sep.is_none());
            let most = most.or(more.get("maxsplit")?).and_then(|most| usize::try_from(most).ok());
            more.assert_all_used()?;
            let sep = sep.map(|sep| sep.as_str().map(str::to_owned).ok_or_else(|| invalid("a separator is a string")));
            Ok(split(text, sep.transpose()?.as_deref(), most.unwrap_or(usize::MAX), name == "rsplit")?.into())
        }
        "splitlines" => {
            let (keep, more): (Option<bool>, Kwargs) = from_args(args)?;
            let keep = keep.or(more.get("keepends")?).unwrap_or(false);
            Ok(lines(text, keep).into_iter().map(Value::from).collect())
        }
        "partition" | "rpartition" => {
            let (sep,): (&str,) = from_args(args)?;
            let found = if name == "partition" { text.split_once(sep) } else { text.rsplit_once(sep) };
            let parts = match found {
                Some((before, after)) => [before, sep, after],
                None if name == "partition" => [text, "", ""],
                None => ["", "", text],
            };
            Ok(Value::from(Tuple::from(parts.map(Value::from))))
        }
        "startswith" | "endswith" => {
            let (mark, from): (Value, Option<i64>) = from_args(args)?;
            let text = &text[from.map_or(0, |from| place(text, from))..];
            unknown_method_callback(state, &text.into(), name, &[mark])
        }
        "find" | "rfind" | "index" | "rindex" => {
            let (what, from): (&str, Option<i64>) = from_args(args)?;
            let begin = from.map_or(0, |from| place(text, from));
            let rest = &text[begin..];
            let at = if name.starts_with('r') { rest.rfind(what) } else { rest.find(what) };
            match at {
                Some(at) => Ok(text[..begin + at].chars().count().into()),
                None if name.ends_with("find") => Ok((-1).into()),
                None => Err(invalid("the text is not in the string")),
            }
        }
        "removeprefix" | "removesuffix" => {
            let (mark,): (&str,) = from_args(args)?;
            let without = if name == "removeprefix" { text.strip_prefix(mark) } else { text.strip_suffix(mark) };
            Ok(without.unwrap_or(text).into())
        }
        "title" => {
            let () = from_args(args)?;
            let mut inside = false;
            let turned = |c: char| {
                let is_first = !std::mem::replace(&mut inside, c.is_alphabetic());
                if is_first { c.to_uppercase().collect::<String>() } else { c.to_lowercase().collect() }
            };
            Ok(text.chars().map(turned).collect::<String>().into())
        }
        "casefold" => unknown_method_callback(state, value, "lower", args),
        "isdecimal" => {
            let () = from_args(args)?;
            Ok((!text.is_empty() && text.chars().all(|c| c.is_ascii_digit())).into())
        }
        "zfill" | "ljust" | "rjust" | "center" => {
            let (width, with): (usize, Option<char>) = from_args(args)?;
            padded(state, text, name, width, with)
        }
        // Those whose results can be much larger are the filters of the same name, which count it.
        "replace" => {
            let (old, new, count): (Value, Value, Option<i64>) = from_args(args)?;
            let count = count.filter(|&count| count >= 0).map(Value::from);
            let all: Vec<Value> = [value.clone(), old, new].into_iter().chain(count).collect();
            state.apply_filter(name, &all)
        }
        "join" => {
            let (items,): (Value,) = from_args(args)?;
            state.apply_filter(name, &[items, value.clone()])
        }
        "format" => {
            charge(state, width_of_format(text, args))?;
            unknown_method_callback(state, value, name, args)
        }
        _ => unknown_method_callback(state, value, name, args),
    }
}

/// The byte at this place in characters, counted from the end where it is negative.
fn place(text: &str, at: i64) -> usize {
    let at = if at < 0 { at.saturating_add_unsigned(text.chars().count() as u64).max(0) } else { at };
    text.char_indices().nth(usize::try_from(at).unwrap_or(usize::MAX)).map_or(text.len(), |(byte, _)| byte)
}

fn split(text: &str, sep: Option<&str>, most: usize, from_end: bool) -> Result<Vec<Value>, Error> {
    let most = most.saturating_add(1);
    let mut parts: Vec<&str> = match (sep, from_end) {
        (Some(""), _) => return Err(invalid("a separator is a string that is not empty")),
        (Some(sep), false) => text.splitn(most, sep).collect(),
        (Some(sep), true) => text.rsplitn(most, sep).collect(),
        (None, _) => {
            let mut parts = Vec::new();
            let mut rest = stripped(text, None, true, true);
            while !rest.is_empty() {
                let at = if from_end {
                    rest.rfind(is_space).map(|at| at + rest[at..].chars().next().map_or(0, char::len_utf8))
                } else {
                    rest.find(is_space)
                };
                let at = at.filter(|_| parts.len() + 1 < most);
                let (part, more) = match at {
                    None => (rest, ""),
                    Some(at) if from_end => (&rest[at..], &rest[..at]),
                    Some(at) => rest.split_at(at),
                };
                parts.push(part);
                rest = stripped(more, None, !from_end, from_end);
            }
            // What was not split keeps the white space at its other end.
            let is_cut = parts.len() == most;
            if let Some(last) = parts.last_mut().filter(|_| is_cut) {
                let begin = last.as_ptr() as usize - text.as_ptr() as usize;
                *last = if from_end { &text[..begin + last.len()] } else { &text[begin..] };
                *last = stripped(last, None, !from_end, from_end);
            }
            parts
        }
    };
    if from_end {
        parts.reverse();
    }
    Ok(parts.into_iter().map(Value::from).collect())
}

/// The lines of a text, as Python ends them.
pub fn lines(text: &str, keep_ends: bool) -> Vec<&str> {
    let ends = |c: char| matches!(c, '\n'..='\r' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let at = rest.find(ends).unwrap_or(rest.len());
        let len = if rest[at..].starts_with("\r\n") { 2 } else { rest[at..].chars().next().map_or(0, char::len_utf8) };
        found.push(&rest[..at + if keep_ends { len } else { 0 }]);
        rest = &rest[at + len..];
    }
    found
}

fn padded(state: &State, text: &str, name: &str, width: usize, with: Option<char>) -> Result<Value, Error> {
    charge(state, width)?;
    let missing = width.saturating_sub(text.chars().count());
    let left = match name {
        "ljust" => 0,
        // An odd one stands on the left where the width is odd, too.
        "center" => missing / 2 + (missing & width & 1),
        _ => missing,
    };
    let pad = |count: usize| with.unwrap_or(if name == "zfill" { '0' } else { ' ' }).to_string().repeat(count);
    let sign = usize::from(name == "zfill" && text.starts_with(['-', '+']));
    Ok([&text[..sign], &pad(left), &text[sign..], &pad(missing - left)].concat().into())
}

/// At least the bytes that a format can make of these arguments.
fn width_of_format(format: &str, args: &[Value]) -> usize {
    let numbers = format.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let widths = numbers.map(|digits| digits.parse().unwrap_or(usize::MAX)).fold(0, usize::saturating_add);
    // A width may also be an argument.
    let wide = args.iter().filter_map(Value::as_usize).max().filter(|_| format.matches('{').count() > 1);
    let longest = args.iter().filter_map(Value::as_str).map(str::len).max().unwrap_or(0).max(wide.unwrap_or(0));
    widths.saturating_add(longest.saturating_mul(format.matches('{').count()))
}

/// The lines of a text behind a margin.
#[allow(clippy::needless_pass_by_value)] // so the engine calls a filter
pub fn indented(
    state: &State,
    text: &str,
    width: Option<Value>,
    first: Option<bool>,
    more: Kwargs,
) -> Result<Value, Error> {
    let width = width.or(more.get("width")?);
    let (first, blank): (_, Option<bool>) = (first.or(more.get("first")?), more.get("blank")?);
    more.assert_all_used()?;
    let width = width.unwrap_or(Value::from(4));
    let count = width.as_str().map_or_else(|| width.as_usize(), |margin| Some(margin.len()));
    let count = count.ok_or_else(|| invalid("a width is a number or a string"))?;
    let whole = format!("{text}\n");
    let lines = lines(&whole, false);
    charge(state, count.saturating_mul(lines.len()))?;
    let margin = width.as_str().map_or_else(|| " ".repeat(count), str::to_owned);
    let mut out = String::with_capacity(text.len());
    for (at, line) in lines.into_iter().enumerate() {
        let is_inset = if at == 0 { first == Some(true) } else { blank == Some(true) || !line.is_empty() };
        out.extend([if at > 0 { "\n" } else { "" }, if is_inset { &margin } else { "" }, line]);
    }
    Ok(out.into())
}
