//! Uses in code in Rust that no function needs.

use crate::trial::suspicious::{Kind, Table};

pub const USES: Table = &[
    (Kind::OwnProcess, "~/proc"),
    (
        Kind::Exit,
        "process : : exit, process : : abort, CommandExt, _exit, libc : : exit, libc : : abort, \
         intrinsics : : abort",
    ),
    (
        Kind::Early,
        "link_section, no_mangle, export_name, link_name, linkage, ctor, ~init_array, global_asm, \
         no_main, naked, global_allocator, GlobalAlloc",
    ),
    (
        Kind::Judges,
        "macro_rules ! assert*, macro_rules ! debug_assert*, macro_rules ! matches, \
         macro_rules ! panic, macro_rules ! unreachable, extern crate self, extern crate core, \
         no_implicit_prelude, no_core, custom_test_frameworks, trait PartialEq, trait Debug, \
         const None, const true, macro_rules ! vec, macro_rules ! format",
    ),
    (
        Kind::Detects,
        "cfg ! ( test, cfg ( not ( test, cfg ( test ) ] fn, cfg ( test ) ] impl, cfg ( test ) ] pub, \
         cfg_attr ( test, thread : : current",
    ),
    (Kind::Framework, "extern crate test, test : : test_main*, test : : Bencher, rust_2018 : : test"),
    (Kind::Native, "unsafe, extern '*', transmute"),
    (
        Kind::Raw,
        "extern '*' {, extern {, asm !, read_volatile, read_unaligned, from_raw_fd, borrow_raw, \
         as usize as *, libc : :",
    ),
    (Kind::Environment, "std : : env, env : : var*, env : : args*, env !, option_env !"),
    (Kind::Processes, "process : : Command, Command : : new"),
    (Kind::Network, "std : : net, TcpStream, TcpListener, UdpSocket, UnixStream"),
    (
        Kind::Files,
        "std : : fs, fs : : read*, fs : : write*, File : : open, OpenOptions, include !, \
         include_str !, include_bytes !, std : : os",
    ),
    (Kind::Hooks, "set_hook, take_hook, catch_unwind, Drop for, resume_unwind, mem : : forget"),
    (Kind::Computed, ": : $, extern crate, proc_macro"),
    (Kind::Equality, "PartialEq for, Deref for, DerefMut for, struct String, struct Vec, enum Option"),
];
