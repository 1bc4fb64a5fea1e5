//! Values of options, read from text.

use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use serde_json::{Value, json};

/// Reads `2.5s`, `800ms`, `1m` or plain seconds.
pub fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let scale = match unit {
        "ms" => 1e-3,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(number.trim().parse::<f64>().ok()? * scale).ok()
}

pub(super) fn is_auto(text: &str) -> bool {
    text.trim() == "auto"
}

pub(super) fn yes_or_no(text: &str) -> Option<bool> {
    match text.trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

pub(super) fn text(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

pub(super) fn parsed<T: FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

pub(super) fn within<T: FromStr + PartialOrd>(text: &str, range: RangeInclusive<T>) -> Option<T> {
    parsed(text).filter(|value| range.contains(value))
}

/// The shortest number that reads as `x`, not the f64 nearest to it.
pub(super) fn number(x: f32) -> Value {
    json!(x.to_string().parse::<f64>().unwrap_or(f64::from(x)))
}
