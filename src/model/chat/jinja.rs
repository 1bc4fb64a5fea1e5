//! The language of templates as the library does for which they are written: Jinja2 as `transformers` sets it
//! up. Where the engine differs from it is in `source`, before it runs, and in `python` and `json`.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Value, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, State, filters};

use super::{json, python, source};

/// Deepest nesting of macros and loops.
const DEPTH: usize = 100;

/// The text that a template makes of `context` in at most so many steps; 64 bytes count as a step.
pub fn render(template: &str, context: Value, steps: u64) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_unknown_method_callback(python::method);
    environment.set_fuel(Some(steps));
    environment.set_recursion_limit(DEPTH);
    environment.add_function("raise_exception", |text: String| -> Result<String, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, text))
    });
    environment.add_function("strftime_now", |format: &str| python::date(format));
    add_filters(&mut environment);
    // There nothing is not iterable, and strings and dictionaries are sequences.
    environment.add_test("iterable", |value: &Value| !value.is_none() && value.try_iter().is_ok());
    environment.add_test("sequence", |value: &Value| {
        matches!(value.kind(), ValueKind::Undefined | ValueKind::String | ValueKind::Seq | ValueKind::Map)
    });
    let text = source::rewritten(template);
    environment.add_template("chat", &text)?;
    environment.get_template("chat")?.render(context)
}

/// Filters that differ.
fn add_filters(environment: &mut Environment) {
    environment.add_filter("tojson", json::text);
    environment.add_filter("indent", python::indented);
    environment.add_filter("trim", |value: &Value, chars: Option<&str>| {
        Value::from(python::stripped(&value.to_string(), chars, true, true))
    });
    for name in ["default", "d"] {
        environment.add_filter(name, default);
    }
    for name in ["escape", "e"] {
        environment.add_filter(name, escape);
    }
    // Other values are zero.
    environment.add_filter("int", |state: &State, value: &Value, default: Option<Value>, base, more: Kwargs| {
        let default = default.or(more.get("default")?).unwrap_or(Value::from(0));
        filters::int(state, value, Some(default), base, more)
    });
    environment.add_filter("float", |state: &State, value: &Value, default: Option<Value>, more: Kwargs| {
        let default = default.or(more.get("default")?).unwrap_or(Value::from(0.0));
        filters::float(state, value, Some(default), more)
    });
}

#[allow(clippy::needless_pass_by_value)] // so the engine calls a filter
fn default(value: &Value, instead: Option<Value>, falsy: Option<bool>, more: Kwargs) -> Result<Value, Error> {
    let instead = instead.or(more.get("default_value")?);
    let falsy = falsy.or(more.get("boolean")?).unwrap_or(false);
    more.assert_all_used()?;
    let is_missing = value.is_undefined() || falsy && !value.is_true();
    Ok(if is_missing { instead.unwrap_or_else(|| Value::from("")) } else { value.clone() })
}

fn escape(value: &Value) -> Value {
    if value.is_safe() {
        return value.clone();
    }
    let text = value.to_string().replace('&', "&amp;").replace('>', "&gt;").replace('<', "&lt;");
    Value::from_safe_string(text.replace('\'', "&#39;").replace('"', "&#34;"))
}

#[cfg(test)]
mod tests;
