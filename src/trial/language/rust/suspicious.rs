//! Uses in code in Rust that no function needs.

use crate::code::Word;
use crate::trial::suspicious::{Imports, Kind, Table, Uses, holds};

pub const TABLE: Table = Table { uses: USES, imports, patches, paths, has_members_by_text: false };

const USES: &[Uses] = &[
    (Kind::OwnProcess, "~/proc"),
    (
        Kind::Exit,
        "process : : exit, process : : abort, CommandExt, _exit, libc : : exit, libc : : abort, intrinsics : : abort",
    ),
    (
        Kind::Early,
        "link_section, no_mangle, export_name, link_name, linkage, ctor, ~init_array, global_asm, no_main, naked, \
         global_allocator, GlobalAlloc",
    ),
    (
        Kind::Judges,
        "macro_rules ! assert*, macro_rules ! debug_assert*, macro_rules ! matches, macro_rules ! panic, macro_rules \
         ! unreachable, extern crate self, extern crate core, no_implicit_prelude, no_core, custom_test_frameworks, \
         trait PartialEq, trait Debug, const None, const true, macro_rules ! vec, macro_rules ! format",
    ),
    (
        Kind::Detects,
        "cfg ! ( test, cfg ( not ( test, cfg ( test ) ] fn, cfg ( test ) ] impl, cfg ( test ) ] pub, cfg_attr ( test, \
         thread : : current",
    ),
    (Kind::Framework, "extern crate test, test : : test_main*, test : : Bencher, rust_2018 : : test"),
    (Kind::Native, "unsafe, extern '*', transmute"),
    (
        Kind::Raw,
        "extern '*' {, extern {, asm !, read_volatile, read_unaligned, from_raw_fd, borrow_raw, as usize as *, libc : \
         :",
    ),
    (Kind::Environment, "std : : env, env : : var*, env : : args*, env !, option_env !"),
    (Kind::Processes, "process : : Command, Command : : new"),
    (Kind::Network, "std : : net, TcpStream, TcpListener, UdpSocket, UnixStream"),
    (
        Kind::Files,
        "std : : fs, fs : : read*, fs : : remove*, fs : : write*, File : : open, OpenOptions, include !, include_str !, include_bytes \
         !, std : : os",
    ),
    (Kind::Hooks, "set_hook, take_hook, catch_unwind, Drop for, resume_unwind, mem : : forget"),
    (Kind::Computed, ": : $, extern crate, proc_macro"),
    (Kind::Equality, "PartialEq for, Deref for, DerefMut for, struct String, struct Vec, enum Option"),
];

/// Names that Rust's tests judge by: types, and macros that check.
const OF_RUST: &str = "i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64 bool char str assert assert_eq \
    assert_ne matches panic std core";

/// Comparisons and arithmetic with another type than one's own.
const OPERATORS: &str = "PartialEq PartialOrd Add Sub Mul Div Rem BitXor BitAnd BitOr Shl Shr";

fn imports(found: &mut Imports, words: &[Word]) {
    let mut is_use = false;
    let words: Vec<&Word> = words.iter().filter(|word| **word != Word::End).collect();
    for (at, word) in words.iter().enumerate() {
        is_use = (is_use && !word.is(';')) || matches!(word.name(), Some("use" | "extern"));
        // Only in `use a::b as c`, not in `x as u32`.
        if let (true, Some("as"), Some(Word::Name(own))) = (is_use, word.name(), words.get(at + 1))
            && let Some(name) = at.checked_sub(1).and_then(|before| words[before].name())
        {
            found.aliases.insert(own.clone(), name.to_owned());
        }
    }
}

/// The paths that `use` names in braces, each written out.
fn paths(words: &[Word]) -> Vec<Word> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(offset) = words[at..].iter().position(|word| word.name() == Some("use")) {
        at += offset + 1;
        let (mut path, mut kept): (Vec<Word>, Vec<usize>) = (Vec::new(), Vec::new());
        let mut end = |path: &[Word]| {
            out.push(Word::Mark(';'));
            out.extend_from_slice(path);
        };
        while let Some(word) = words.get(at).filter(|word| !word.is(';')) {
            at += 1;
            match word {
                Word::Mark('{') => kept.push(path.len()),
                Word::Mark(',' | '}') => {
                    end(&path);
                    path.truncate(kept.last().copied().unwrap_or(0));
                    if word.is('}') {
                        kept.pop();
                    }
                }
                _ => path.push(word.clone()),
            }
        }
        end(&path);
    }
    out.push(Word::Mark(';'));
    out
}

fn patches(words: &[Word], imports: &Imports) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    for name in OF_RUST.split(' ').filter(|name| imports.aliases.contains_key(*name)) {
        found.push((Kind::Judges, format!("as {name}")));
    }
    for pair in words.windows(2) {
        if let [Word::Name(how), Word::Name(name)] = pair
            && ["struct", "enum", "union", "type", "trait", "mod"].contains(&how.as_str())
            && holds(OF_RUST, name)
        {
            found.push((Kind::Judges, format!("{how} {name}")));
        }
    }
    for head in words.split(|word| word.name() == Some("impl")).skip(1) {
        // Without `for` it is a return type.
        let end = head.iter().position(|word| word.is('{') || word.name() == Some("for")).unwrap_or(head.len());
        let head = if head.get(end).is_some_and(|word| word.name() == Some("for")) { &head[..end] } else { &[] };
        // In brackets behind `impl` are bounds.
        let mut depth = 0_i32;
        for pair in head.windows(2) {
            if let (0, [Word::Name(name), next]) = (depth, pair)
                && next.is('<')
                && holds(OPERATORS, name)
            {
                found.push((Kind::Equality, format!("{name}<")));
            }
            depth += i32::from(pair[0].is('<')) - i32::from(pair[0].is('>'));
        }
    }
    found
}
