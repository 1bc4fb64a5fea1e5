//! Python's own errors, each with the one that it is a kind of.

/// An error, and its kinds.
const ERRORS: &[(&str, &[&str])] = &[
    ("BaseException", &["Exception", "BaseExceptionGroup", "GeneratorExit", "KeyboardInterrupt", "SystemExit"]),
    (
        "Exception",
        &[
            "ArithmeticError", "AssertionError", "AttributeError", "BufferError", "EOFError", "ExceptionGroup",
            "ImportError", "LookupError", "MemoryError", "NameError", "OSError", "ReferenceError", "RuntimeError",
            "StopAsyncIteration", "StopIteration", "SyntaxError", "SystemError", "TypeError", "ValueError", "Warning",
        ],
    ),
    ("ArithmeticError", &["FloatingPointError", "OverflowError", "ZeroDivisionError"]),
    ("ImportError", &["ModuleNotFoundError"]),
    ("LookupError", &["IndexError", "KeyError"]),
    ("NameError", &["UnboundLocalError"]),
    (
        "OSError",
        &[
            "BlockingIOError", "ChildProcessError", "ConnectionError", "FileExistsError", "FileNotFoundError",
            "InterruptedError", "IsADirectoryError", "NotADirectoryError", "PermissionError", "ProcessLookupError",
            "TimeoutError",
        ],
    ),
    (
        "ConnectionError",
        &["BrokenPipeError", "ConnectionAbortedError", "ConnectionRefusedError", "ConnectionResetError"],
    ),
    ("RuntimeError", &["NotImplementedError", "PythonFinalizationError", "RecursionError"]),
    ("SyntaxError", &["IndentationError"]),
    ("IndentationError", &["TabError"]),
    ("ValueError", &["UnicodeError"]),
    ("UnicodeError", &["UnicodeDecodeError", "UnicodeEncodeError", "UnicodeTranslateError"]),
    (
        "Warning",
        &[
            "BytesWarning", "DeprecationWarning", "EncodingWarning", "FutureWarning", "ImportWarning",
            "PendingDeprecationWarning", "ResourceWarning", "RuntimeWarning", "SyntaxWarning", "UnicodeWarning",
            "UserWarning",
        ],
    ),
];

/// Returns true if Python has an error of this name.
pub fn is_builtin(name: &str) -> bool {
    name == ERRORS[0].0 || parent(name).is_some()
}

fn parent(name: &str) -> Option<&'static str> {
    ERRORS.iter().find(|(_, kinds)| kinds.contains(&name)).map(|(parent, _)| *parent)
}

/// Returns true if `except general` catches an error of this name. All but these count as kinds of Exception.
pub fn covers(general: &str, name: &str) -> bool {
    let mut at = Some(name);
    while let Some(one) = at {
        if one == general {
            return true;
        }
        at = parent(one).or_else(|| (!is_builtin(one)).then_some("Exception"));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_covers_its_kinds() {
        for (general, name, is_covered) in [
            ("LookupError", "KeyError", true),
            ("Exception", "TabError", true),
            ("Exception", "OwnError", true),
            ("BaseException", "SystemExit", true),
            ("Exception", "SystemExit", false),
            ("KeyError", "LookupError", false),
            ("ValueError", "OwnError", false),
            ("OwnError", "OwnError", true),
        ] {
            assert_eq!(covers(general, name), is_covered, "{general}, {name}");
        }
    }
}
