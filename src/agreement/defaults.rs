//! Kinds that the default of a parameter says, where it is an expression: `time.monotonic`, `str`, `os.sep`.

use super::annotation::dates;
use super::kind::Kind;
use crate::language::Language;

/// Functions of no arguments that return the time in numbers, or other numbers.
const CLOCKS: &[&str] = &[
    "time.time", "time.monotonic", "time.perf_counter", "time.process_time", "monotonic", "perf_counter", "Date.now",
    "performance.now", "random.random", "Math.random",
];
/// Functions that return a date.
const DATES: &[&str] = &["datetime.now", "datetime.utcnow", "datetime.datetime.now", "datetime.today"];
/// Functions that are called for what they do.
const EFFECTS: &[&str] =
    &["print", "time.sleep", "sleep", "asyncio.sleep", "console.log", "console.warn", "console.error"];
const TEXTS: &[&str] = &[
    "os.sep", "os.linesep", "os.pathsep", "os.curdir", "string.ascii_letters", "string.ascii_lowercase",
    "string.ascii_uppercase", "string.digits", "string.punctuation", "string.whitespace", "path.sep",
];
const FLOATS: &[&str] = &["math.inf", "math.pi", "math.e", "math.tau", "Infinity", "Math.PI", "Math.E"];
const INTS: &[&str] = &["sys.maxsize", "Number.MAX_SAFE_INTEGER"];
/// Functions of the language that take one value.
const FUNCTIONS: &[&str] = &[
    "str", "int", "float", "bool", "len", "repr", "abs", "sorted", "sum", "min", "max", "list", "tuple", "set", "hash",
    "id", "ord", "chr", "type", "any", "all", "iter", "next", "reversed", "String", "Number", "Boolean", "parseInt",
    "parseFloat", "JSON.stringify", "JSON.parse", "json.dumps", "json.loads", "re.escape", "str.lower", "str.strip",
    "str.upper", "str.split", "Math.max", "Math.min", "Math.round", "Math.floor", "Math.abs",
];

/// The kind of a parameter with this default.
pub fn kind(language: Language, text: &str) -> Kind {
    let text = text.trim();
    let has = |all: &[&str]| all.contains(&text);
    match () {
        () if has(CLOCKS) => Kind::Gives(Box::new(Kind::Float)),
        () if has(DATES) => Kind::Gives(Box::new(dates(language))),
        () if has(EFFECTS) => Kind::callback(),
        () if has(TEXTS) => Kind::Text,
        () if has(FLOATS) || text.starts_with("float(") => Kind::Float,
        () if has(INTS) => Kind::Int,
        () if has(FUNCTIONS) || is_function(language, text) => Kind::Function,
        () => Kind::Unknown,
    }
}

/// Returns true for a function that is written out, or taken from the module of operators.
fn is_function(language: Language, text: &str) -> bool {
    match language {
        Language::Python => text.starts_with("lambda ") || text.starts_with("operator."),
        _ => text.starts_with("function") || text.contains("=>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_say_kinds() {
        for (text, expected) in [
            ("time.monotonic", Kind::Gives(Box::new(Kind::Float))),
            ("datetime.now", Kind::Gives(Box::new(dates(Language::Python)))),
            ("print", Kind::callback()),
            ("os.sep", Kind::Text),
            ("float(\"inf\")", Kind::Float),
            ("sys.maxsize", Kind::Int),
            ("str", Kind::Function),
            ("lambda x: x", Kind::Function),
            ("operator.add", Kind::Function),
            ("SENTINEL", Kind::Unknown),
        ] {
            assert_eq!(kind(Language::Python, text), expected, "{text}");
        }
        assert_eq!(kind(Language::JavaScript, "(a, b) => a - b"), Kind::Function);
    }
}
