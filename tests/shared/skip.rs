//! How a test says that it, or a part of it, was not run: on standard error, and in the file that
//! `SKIPPED_TESTS` names, for `.ci/run`.

#![allow(dead_code, reason = "not every test program has both reasons")]

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// For want of a program that can be installed.
pub fn for_want_of(program: &str, why: impl Display) {
    note(&format!("for want of {program}: {why}"));
}

/// As this machine, its system or its user cannot do it.
pub fn as_it_cannot(be: &str, why: impl Display) {
    note(&format!("{be}: {why}"));
}

fn note(why: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {}: {why}\n", thread.name().unwrap_or("a part of a test"));
    eprint!("{line}");
    let Some(file) = std::env::var_os("SKIPPED_TESTS") else { return };
    // A part that runs as another user may not write there.
    if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(file) {
        let _ = file.write_all(line.as_bytes());
    }
}
