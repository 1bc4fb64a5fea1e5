//! Values as JSON, as Python writes it.

use std::fmt::Write;

use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{Error, State};

use super::python::{BYTES, charge, invalid};

/// Deepest value that is written.
const DEPTH: usize = 100;

/// How JSON is written.
struct Json<'a> {
    state: &'a State<'a, 'a>,
    out: String,
    /// Bytes that are charged.
    charged: usize,
    ascii: bool,
    sorted: bool,
    /// Before each item in a line of its own.
    margin: Option<String>,
    between: String,
    colon: String,
}

/// A value as JSON, with the arguments of Python's `json.dumps` in the order that templates know.
#[allow(clippy::needless_pass_by_value)] // so the engine calls a filter
pub fn text(
    state: &State,
    value: &Value,
    ascii: Option<Value>,
    indent: Option<Value>,
    more: Kwargs,
) -> Result<Value, Error> {
    let ascii = ascii.or(more.get("ensure_ascii")?).is_some_and(|ascii| ascii.is_true());
    let indent = indent.or(more.get("indent")?).filter(|indent| !indent.is_none());
    let separators = more.get::<Option<Value>>("separators")?.filter(|pair| !pair.is_none());
    let sorted = more.get::<Option<Value>>("sort_keys")?.is_some_and(|sorted| sorted.is_true());
    more.assert_all_used()?;
    let margin = match &indent {
        None => None,
        Some(indent) if indent.as_str().is_some() => indent.as_str().map(str::to_owned),
        Some(indent) => {
            let width = indent.as_usize().filter(|&width| width <= DEPTH);
            Some(" ".repeat(width.ok_or_else(|| invalid("an indentation is a small number or a string"))?))
        }
    };
    let item = |at: usize| {
        let item = separators.as_ref().and_then(|pair| pair.get_item_by_index(at).ok());
        item.and_then(|item| item.as_str().map(str::to_owned))
    };
    let between = item(0).unwrap_or_else(|| if margin.is_some() { "," } else { ", " }.to_owned());
    let colon = item(1).unwrap_or_else(|| ": ".to_owned());
    let mut json = Json { state, out: String::new(), charged: 0, ascii, sorted, margin, between, colon };
    json.value(value, 0)?;
    Ok(json.out.into())
}

impl Json<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Error> {
        charge(self.state, self.out.len() - self.charged + BYTES)?;
        self.charged = self.out.len();
        match value.kind() {
            ValueKind::None => self.out += "null",
            ValueKind::Bool => self.out += if value.is_true() { "true" } else { "false" },
            ValueKind::Number => self.out += &number(value),
            ValueKind::String => self.text(value.as_str().unwrap_or_default()),
            ValueKind::Seq | ValueKind::Iterable if depth < DEPTH => {
                let items = value.try_iter()?.checked();
                self.items('[', ']', depth, items, |json, item| json.value(&item, depth + 1))?;
            }
            ValueKind::Map if depth < DEPTH => {
                let mut keys = value.try_iter()?.checked().collect::<Result<Vec<_>, _>>()?;
                if self.sorted {
                    keys.sort();
                }
                self.items('{', '}', depth, keys.into_iter().map(Ok), |json, key| {
                    match key.kind() {
                        ValueKind::None => json.text("null"),
                        ValueKind::Bool => json.text(if key.is_true() { "true" } else { "false" }),
                        ValueKind::Number => json.text(&number(&key)),
                        ValueKind::String => json.text(key.as_str().unwrap_or_default()),
                        kind => return Err(invalid(format!("a {kind} is no key in JSON"))),
                    }
                    json.out += &json.colon;
                    json.value(&value.get_item(&key)?, depth + 1)
                })?;
            }
            kind => return Err(invalid(format!("a value is too deep for JSON, or cannot be written: {kind}"))),
        }
        Ok(())
    }

    fn items(
        &mut self,
        open: char,
        close: char,
        depth: usize,
        items: impl Iterator<Item = Result<Value, Error>>,
        mut write: impl FnMut(&mut Self, Value) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.out.push(open);
        let mut is_empty = true;
        for item in items {
            if !std::mem::replace(&mut is_empty, false) {
                self.out += &self.between;
            }
            self.line(depth + 1);
            write(self, item?)?;
        }
        if !is_empty {
            self.line(depth);
        }
        self.out.push(close);
        Ok(())
    }

    fn line(&mut self, depth: usize) {
        if let Some(margin) = &self.margin {
            self.out.push('\n');
            self.out += &margin.repeat(depth);
        }
    }

    fn text(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' => self.out += "\\\"",
                '\\' => self.out += "\\\\",
                '\n' => self.out += "\\n",
                '\r' => self.out += "\\r",
                '\t' => self.out += "\\t",
                '\x08' => self.out += "\\b",
                '\x0c' => self.out += "\\f",
                '\0'..='\x1f' => {
                    let _ = write!(self.out, "\\u{:04x}", c as u32);
                }
                '\x7f'.. if self.ascii => {
                    self.out.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}

/// A number as Python writes it.
fn number(value: &Value) -> String {
    let float = if value.is_integer() { None } else { f64::try_from(value.clone()).ok() };
    let Some(float) = float else { return value.to_string() };
    if !float.is_finite() {
        return if float.is_nan() {
            "NaN"
        } else if float > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        }
        .to_owned();
    }
    let short = format!("{float:e}");
    match short.split_once('e').map(|(digits, power)| (digits, power.parse::<i32>().unwrap_or(0))) {
        Some((digits, power)) if !(-4..16).contains(&power) => {
            format!("{digits}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs())
        }
        _ => format!("{float:?}"),
    }
}
