//! Objects of Python's library as a person types them, and as the interpreter prints them: dates, times,
//! decimals, fractions, identifiers and paths. Each prints as a call that makes it again.

use super::value::{Argument, Value, arguments};
use crate::language::Language;

/// An object.
#[derive(Debug, PartialEq, Eq)]
pub struct Object {
    /// The name of its type.
    pub kind: &'static str,
    /// As the interpreter prints it.
    pub printed: String,
}

/// Microseconds of the parts of a time span, by the names of the parameters.
const SPANS: [(&str, i128); 7] = [
    ("days", 86_400_000_000),
    ("seconds", 1_000_000),
    ("microseconds", 1),
    ("milliseconds", 1_000),
    ("minutes", 60_000_000),
    ("hours", 3_600_000_000),
    ("weeks", 604_800_000_000),
];

/// The object that an expression makes, such as `date(2024, 3, 4)`. `None` for any other expression.
pub fn object(text: &str) -> Option<Object> {
    let (path, _) = text.split_once('(')?;
    let (call, end) = arguments(text, path.len() + 1, Language::Python)?;
    if end != text.len() {
        return None;
    }
    let of = |kind, printed| Some(Object { kind, printed });
    let name = path.trim().rsplit('.').next()?;
    match (name, &call[..]) {
        ("Decimal", [one]) => match plain(one)? {
            Value::Text(number) => of("Decimal", format!("Decimal('{}')", decimal(number)?)),
            Value::Int(number) => of("Decimal", format!("Decimal('{number}')")),
            _ => None,
        },
        ("UUID", [one]) => match plain(one)? {
            Value::Text(text) => of("UUID", format!("UUID('{}')", identifier(text)?)),
            _ => None,
        },
        ("Path" | "PosixPath", [one]) => match plain(one)? {
            Value::Text(text) if is_plain_path(text) => of("PosixPath", format!("PosixPath('{text}')")),
            _ => None,
        },
        ("timedelta", _) => of("timedelta", span(&call)?),
        _ => {
            let numbers = call.iter().map(|one| whole(plain(one)?)).collect::<Option<Vec<i128>>>()?;
            match (name, &numbers[..]) {
                ("Fraction", [above]) => of("Fraction", format!("Fraction({above}, 1)")),
                ("Fraction", &[above, below]) if below != 0 => {
                    let by = gcd(above, below) * below.signum();
                    of("Fraction", format!("Fraction({}, {})", above / by, below / by))
                }
                ("date", [_, _, _]) => of("date", format!("datetime.date({})", listed(&numbers))),
                ("datetime", [_, _, _, ..]) => Some(Object {
                    kind: "datetime",
                    printed: format!("datetime.datetime({})", listed(&shown_time(&numbers, 5)?)),
                }),
                ("time", _) => of("time", format!("datetime.time({})", listed(&shown_time(&numbers, 2)?))),
                _ => None,
            }
        }
    }
}

/// The value of an argument without a name.
fn plain(argument: &Argument) -> Option<&Value> {
    Some(&argument.value).filter(|_| argument.name.is_none())
}

fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Int(number) => Some(i128::from(*number)),
        _ => None,
    }
}

fn listed(numbers: &[i128]) -> String {
    numbers.iter().map(i128::to_string).collect::<Vec<_>>().join(", ")
}

/// The numbers of a time that are printed: at least the first `least`, and no zeros for seconds behind.
fn shown_time(numbers: &[i128], least: usize) -> Option<Vec<i128>> {
    let mut shown = numbers.to_vec();
    while shown.len() > least && shown.last() == Some(&0) {
        shown.pop();
    }
    shown.resize(shown.len().max(least), 0);
    (shown.len() <= least + 2).then_some(shown)
}

/// The digits of a decimal number that prints as it was written. `None` for any other.
fn decimal(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (above, below) = digits.split_once('.').unwrap_or((digits, "0"));
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let begins_well = above == "0" || !above.starts_with('0');
    // Small numbers print with an exponent.
    let is_small = above == "0" && below.starts_with("000000");
    (are_digits(above) && are_digits(below) && begins_well && !is_small).then_some(text)
}

fn identifier(text: &str) -> Option<String> {
    let digits: String = text.chars().filter(|c| *c != '-').collect::<String>().to_lowercase();
    let is_whole = digits.len() == 32 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let parts = || [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-");
    is_whole.then(parts)
}

/// Returns true for a path that prints as it was written.
fn is_plain_path(text: &str) -> bool {
    let parts = text.strip_prefix('/').unwrap_or(text).split('/');
    text == "." || parts.into_iter().all(|part| !matches!(part, "" | "." | "..") && !part.contains(['\'', '\\']))
}

/// A time span as it is printed: days, seconds and microseconds, as far as they are not zero.
fn span(call: &[Argument]) -> Option<String> {
    let mut all = 0_i128;
    for (place, argument) in call.iter().enumerate() {
        let (_, unit) = match &argument.name {
            Some(name) => SPANS.iter().find(|(known, _)| known == name)?,
            None => SPANS.get(place)?,
        };
        all += whole(&argument.value)?.checked_mul(*unit)?;
    }
    let [day, second] = [SPANS[0].1, SPANS[1].1];
    let rest = all.rem_euclid(day);
    let parts = [("days", all.div_euclid(day)), ("seconds", rest / second), ("microseconds", rest % second)];
    let shown: Vec<String> =
        parts.iter().filter(|(_, count)| *count != 0).map(|(name, count)| format!("{name}={count}")).collect();
    let shown = if shown.is_empty() { "0".to_owned() } else { shown.join(", ") };
    Some(format!("datetime.timedelta({shown})"))
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_read_as_it_is_printed() {
        for (texts, printed) in [
            (&["Decimal('9.50')", "decimal.Decimal(\"9.50\")"][..], "Decimal('9.50')"),
            (&["Decimal(9)"], "Decimal('9')"),
            (&["Fraction(2, 4)", "fractions.Fraction(1,2)", "Fraction(-1, -2)"], "Fraction(1, 2)"),
            (&["Fraction(3)"], "Fraction(3, 1)"),
            (&["date(2024, 3, 4)", "datetime.date( 2024,3,4 )"], "datetime.date(2024, 3, 4)"),
            (
                &["datetime(2024, 3, 4)", "datetime.datetime(2024, 3, 4, 0, 0, 0)"],
                "datetime.datetime(2024, 3, 4, 0, 0)",
            ),
            (&["datetime(2024, 3, 4, 5, 6, 0, 7)"], "datetime.datetime(2024, 3, 4, 5, 6, 0, 7)"),
            (&["time(9)", "time(9, 0)"], "datetime.time(9, 0)"),
            (&["timedelta(1, 3600)", "timedelta(hours=25)"], "datetime.timedelta(days=1, seconds=3600)"),
            (&["timedelta(minutes=-1)"], "datetime.timedelta(days=-1, seconds=86340)"),
            (&["timedelta()"], "datetime.timedelta(0)"),
            (&["Path('a/b.txt')", "pathlib.Path('a/b.txt')"], "PosixPath('a/b.txt')"),
            (
                &["UUID('12345678-1234-5678-1234-567812345678')", "uuid.UUID('12345678123456781234567812345678')"],
                "UUID('12345678-1234-5678-1234-567812345678')",
            ),
        ] {
            for text in texts {
                assert_eq!(object(text).map(|object| object.printed).as_deref(), Some(printed), "{text}");
            }
        }
        for text in [
            "Point(1, 2)", "Decimal(0.1)", "Decimal('1e5')", "Decimal('x')", "date(2024, 3)",
            "date(year=2024, month=3, day=4)", "Fraction(1, 0)", "timedelta(years=1)", "Path('a//b')",
            "date(2024, 3, 4).day", "date(2024, 3, 4", "Decimal",
        ] {
            assert_eq!(object(text), None, "{text}");
        }
    }
}
