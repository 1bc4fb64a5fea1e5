//! Literal values as the observers of calls spell them (`observe.py`, `form.js`): the twin of their forms, so
//! that an answer in words and a result have the same key. Tests hold it to the observers.

use std::fmt::Write;
use std::ops::Range;

use super::object::{Object, object};
use super::value::Value;
use crate::language::Language;

/// Nested values that Python's observer spells out.
const DEEPEST: usize = 12;
/// Characters of a key that are spelled out.
const LONGEST: usize = 200;
/// Longest text of a result that examples state, in characters.
const LONGEST_VALUE: usize = 150;

/// The key of a result: equal for results that are equal.
pub fn key(value: &Value, language: Language) -> String {
    if language == Language::Python { short_python(&python(value, 0, false)) } else { short_script(&script(value)) }
}

/// A value as Python's interpreter may print it; that of a set in one of its orders. `None` if that is long.
pub fn printed(value: &Value) -> Option<String> {
    let text = python(value, 0, true);
    (text.chars().count() <= LONGEST_VALUE).then_some(text)
}

/// The form of a value in Python; as the interpreter prints it, if that is wished.
fn python(value: &Value, depth: usize, is_printed: bool) -> String {
    let of = |value: &Value| python(value, depth + 1, is_printed);
    let every = |all: &[Value]| all.iter().map(of).collect::<Vec<_>>();
    match value {
        _ if depth > DEEPEST && !is_printed => "...".to_owned(),
        Value::Bool(is) if !is_printed => u8::from(*is).to_string(),
        Value::Float(number) => python_float(*number, is_printed),
        Value::Text(text) => python_text(text),
        Value::List(all) => format!("[{}]", every(all).join(", ")),
        Value::Tuple(all) if is_printed && all.len() == 1 => format!("({},)", of(&all[0])),
        Value::Tuple(all) => format!("({})", every(all).join(", ")),
        Value::Set(all) if all.is_empty() => "set()".to_owned(),
        Value::Set(all) => {
            let mut all = every(all);
            all.sort();
            all.dedup();
            format!("{{{}}}", all.join(", "))
        }
        Value::Dict(all) => {
            let fields = fields(all, |key| python(key, depth + 1, false));
            let mut fields: Vec<_> = fields.into_iter().map(|(key, value)| (of(key), of(value))).collect();
            if !is_printed {
                fields.sort_by_key(|(key, value)| format!("{key}: {value}"));
            }
            braces(&fields)
        }
        Value::Other(text) => match object(text) {
            Some(Object { printed, .. }) if is_printed => printed,
            Some(Object { kind, printed }) => format!("{kind}:{printed}"),
            None => text.clone(),
        },
        other => other.written(Language::Python),
    }
}

/// The form of a value in JavaScript.
fn script(value: &Value) -> String {
    let every = |all: &[Value]| format!("[{}]", all.iter().map(script).collect::<Vec<_>>().join(", "));
    match value {
        Value::Int(number) if number.unsigned_abs() < 1_000_000_000_000_000 => number.to_string(),
        Value::Int(number) => script_float(*number as f64),
        Value::Float(number) => script_float(*number),
        Value::Text(text) => json(text),
        Value::List(all) | Value::Tuple(all) => every(all),
        Value::Dict(all) => {
            let name = |key: &Value| match key {
                Value::Text(text) => json(text),
                key => json(&key.written(Language::JavaScript)),
            };
            let fields = fields(all, name);
            let mut fields: Vec<_> = fields.into_iter().map(|(key, value)| (name(key), script(value))).collect();
            fields.sort_by_key(|(key, value)| format!("{key}: {value}").encode_utf16().collect::<Vec<_>>());
            braces(&fields)
        }
        other => other.written(Language::JavaScript),
    }
}

/// The fields of a dictionary: of equal keys the first one with the last value.
fn fields(all: &[(Value, Value)], form: impl Fn(&Value) -> String) -> Vec<(&Value, &Value)> {
    let forms: Vec<String> = all.iter().map(|(key, _)| form(key)).collect();
    let is_first = |&at: &usize| !forms[..at].contains(&forms[at]);
    let last = |at: usize| forms.iter().rposition(|form| *form == forms[at]).unwrap_or(at);
    (0..all.len()).filter(is_first).map(|at| (&all[at].0, &all[last(at)].1)).collect()
}

fn braces(fields: &[(String, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{{}}}", fields.join(", "))
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

fn short_python(text: &str) -> String {
    let length = text.chars().count();
    if length <= LONGEST {
        return text.to_owned();
    }
    let mut crc = flate2::Crc::new();
    crc.update(text.as_bytes());
    let begin: String = text.chars().take(LONGEST / 2).collect();
    format!("{begin}...{length}:{:08x}", crc.sum())
}

fn short_script(text: &str) -> String {
    let units: Vec<u16> = text.encode_utf16().collect();
    if units.len() <= LONGEST {
        return text.to_owned();
    }
    let hash = units.iter().fold(0x811c_9dc5_u32, |hash, unit| (hash ^ u32::from(*unit)).wrapping_mul(0x0100_0193));
    format!("{}...{}:{hash:x}", String::from_utf16_lossy(&units[..LONGEST / 2]), units.len())
}

fn python_float(number: f64, is_printed: bool) -> String {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
    match number {
        _ if number.is_nan() => "nan".to_owned(),
        _ if number.is_infinite() => if number > 0.0 { "inf" } else { "-inf" }.to_owned(),
        _ if is_whole && !is_printed => format!("{}", number as i64),
        // `%.9g`, and the shortest text that means the number.
        _ if !is_printed => decimal(&format!("{number:.8e}"), -4..9, 2),
        _ => {
            let text = decimal(&format!("{number:e}"), -4..16, 2);
            if text.contains(['.', 'e']) { text } else { text + ".0" }
        }
    }
}

fn script_float(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        return format!("{}", number as i64);
    }
    let rounded: f64 = format!("{number:.8e}").parse().unwrap_or(number);
    if rounded.is_infinite() {
        return if rounded > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    decimal(&format!("{rounded:e}"), -6..21, 1)
}

/// A number in scientific form (`-1.25e3`) as Python and JavaScript write it: without an exponent if that is
/// in `plain`, else with at least so many digits of it, and without zeros at the end.
fn decimal(scientific: &str, plain: Range<i32>, exponent_digits: usize) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = mantissa.replace('.', "");
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    if !plain.contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let side = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}{point}{rest}e{side}{:0exponent_digits$}", exponent.unsigned_abs());
    }
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", "0".repeat(exponent.unsigned_abs() as usize - 1));
    }
    let whole = exponent.unsigned_abs() as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits}{}", "0".repeat(whole - digits.len()));
    }
    format!("{sign}{}.{}", &digits[..whole], &digits[whole..])
}

/// A string as Python's `repr` writes it.
fn python_text(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => drop(write!(out, "\\{c}")),
            c if is_printable(c) => out.push(c),
            c if (c as u32) < 0x100 => drop(write!(out, "\\x{:02x}", c as u32)),
            c if (c as u32) < 0x1_0000 => drop(write!(out, "\\u{:04x}", c as u32)),
            c => drop(write!(out, "\\U{:08x}", c as u32)),
        }
    }
    out.push(quote);
    out
}

/// Characters of assigned kinds that show, and the plain space. What cannot be typed is left out.
fn is_printable(c: char) -> bool {
    let is_private = matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..);
    c == ' ' || !c.is_control() && !c.is_whitespace() && !is_private
}
