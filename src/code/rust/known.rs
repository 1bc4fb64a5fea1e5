//! Names that Rust has without a definition.

use crate::code::known::Known;

pub(super) const KNOWN: Known = Known {
    builtins: &[
        "Box", "Err", "Fn", "FnMut", "FnOnce", "None", "Ok", "Option", "Result", "Self", "Some", "String", "Vec", "as",
        "assert", "await", "else", "drop", "fn", "for", "if", "impl", "in", "let", "loop", "match", "move", "mut",
        "pub", "ref", "return", "self", "super", "unsafe", "where", "while", "yield",
    ],
    library: &[
        "std::collections::BTreeMap", "std::collections::BTreeSet", "std::collections::BinaryHeap",
        "std::collections::HashMap", "std::collections::HashSet", "std::collections::VecDeque", "std::rc::Rc",
        "std::sync::Arc", "std::sync::Mutex", "std::cell::RefCell", "std::cmp::Ordering", "std::cmp::Reverse",
        "std::time::Duration", "std::time::Instant", "std::path::PathBuf", "std::str::FromStr", "std::borrow::Cow",
    ],
    given: &[],
    separator: "::",
    import: |path| format!("use {path};"),
};
