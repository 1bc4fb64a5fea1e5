//! Uses in code in Python that no function needs.

use crate::code::Word;
use crate::trial::suspicious::{Imports, Kind, SETTINGS, Table, Uses, holds, path};

pub const TABLE: Table = Table { uses: USES, imports, patches, paths: |_| Vec::new(), has_members_by_text: false };

const USES: &[Uses] = &[
    (
        Kind::Frames,
        "_getframe, _getframemodulename, _current_frames, _current_exceptions, f_back, f_locals, f_globals, \
         f_builtins, tb_frame, gi_frame, cr_frame, ag_frame, currentframe, getouterframes, getinnerframes, \
         getframeinfo, walk_stack, walk_tb, settrace, setprofile, addaudithook, inspect . stack, inspect . trace, sys \
         . monitoring, get_stack",
    ),
    (Kind::Traces, "__traceback__, exc_info, last_traceback, last_exc"),
    (Kind::Heap, "get_objects, get_referrers, get_referents"),
    (Kind::Inside, "__globals__, __closure__, cell_contents, __builtins__, getclosurevars"),
    (Kind::OwnProcess, "~/proc"),
    (
        Kind::Exit,
        "_exit, os . abort, raise_signal, pthread_kill, execv, execve, execvp, execvpe, execl, execle, execlp, \
         execlpe",
    ),
    (Kind::Leave, "sys . exit, SystemExit, ^quit (, ^exit (, KeyboardInterrupt ("),
    (Kind::Skip, "SkipTest, skipTest, pytest . skip, pytest . xfail, pytest . exit, importorskip, pytestmark"),
    (
        Kind::Framework,
        "import:_pytest, pytest_*, hookimpl, pluginmanager, addSuccess, addSkip, addFailure, addExpectedFailure, \
         TestResult, TestLoader, import:unittest.case, import:unittest.result, import:unittest.loader, \
         import:unittest.runner, import:unittest.suite, import:doctest, import:conftest, import:pluggy",
    ),
    (Kind::Tests, "import:unittest, import:pytest"),
    (Kind::Hooks, "import:atexit, __del__, weakref . finalize, signal . signal, setitimer, excepthook"),
    (Kind::Detects, "PYTEST_CURRENT_TEST"),
    (Kind::Native, "import:ctypes, import:_ctypes, import:cffi, import:mmap, import:gc, import:faulthandler"),
    (Kind::Raw, "pythonapi, PyDLL, from_address, string_at, py_object, memmove"),
    (Kind::Inside, "object . __subclasses__, type . __subclasses__, __base__, __mro__ [, __bases__ ["),
    (Kind::Environment, "environ, environb, getenv, putenv, sys . argv"),
    (
        Kind::Processes,
        "import:subprocess, import:multiprocessing, os . system, os . popen, os . fork, forkpty, posix_spawn, os . \
         kill, import:pty",
    ),
    (
        Kind::Network,
        "import:socket, import:urllib.request, import:http, import:requests, import:httpx, import:aiohttp, \
         import:ftplib, import:smtplib, open_connection",
    ),
    (Kind::Files, "rmtree, os . remove, os . removedirs, os . rmdir, os . unlink, os . truncate"),
    (
        Kind::Computed,
        "^eval (, ^exec (, ^compile (, __import__, import_module, ^globals (, ^vars (, attrgetter, FunctionType, \
         CodeType, __subclasses__, sys . modules, meta_path, import:builtins, import:marshal, import:inspect, \
         import:importlib",
    ),
    (Kind::Equality, "def __eq__, def __ne__, def __bool__, def __instancecheck__, def __class__, def __contains__"),
];

/// Modules of Python whose parts nobody replaces but to deceive.
const LIBRARIES: &str = "unittest pytest _pytest doctest builtins sys os json math cmath random time types inspect functools \
    collections operator io re threading asyncio traceback warnings contextlib dataclasses typing \
    decimal fractions datetime ast importlib abc copy pprint difflib itertools logging statistics \
    string enum weakref gc numpy";

fn imports(found: &mut Imports, words: &[Word]) {
    for line in statements(words) {
        let (parts, is_from) = match line.first().and_then(Word::name) {
            Some("import") => (&line[1..], false),
            Some("from") => (&line[1..], true),
            _ => (&[][..], false),
        };
        if is_from {
            let module = dotted(parts);
            found.modules.push(module.clone());
            let after = parts.iter().position(|word| word.name() == Some("import")).map_or(parts.len(), |at| at + 1);
            for item in parts[after..].split(|word| word.is(',') || word.is('(') || word.is(')')) {
                let names: Vec<&str> = item.iter().filter_map(Word::name).collect();
                found.bind(&names, &module);
                if let Some(name) = names.first() {
                    found.modules.push(format!("{module}.{name}"));
                }
            }
            continue;
        }
        for item in parts.split(|word| word.is(',')) {
            let module = dotted(item);
            if module.is_empty() {
                continue;
            }
            let names: Vec<&str> = item.iter().filter_map(Word::name).collect();
            let from = if names.contains(&"as") { names.len().saturating_sub(3) } else { 0 };
            let to = if names.contains(&"as") { names.len() } else { names.len().min(1) };
            found.bind(&names[from..to], &module);
            found.modules.push(module);
        }
    }
    // By the name of the module as a string.
    for window in words.windows(3) {
        if let [Word::Name(how), Word::Mark('(' | '['), Word::Text(module)] = window
            && ["__import__", "import_module", "modules"].contains(&how.as_str())
        {
            found.modules.push(module.clone());
        }
    }
}

/// The statements of Python: lines, joined inside of brackets.
fn statements(words: &[Word]) -> Vec<Vec<Word>> {
    let (mut all, mut current, mut depth) = (Vec::new(), Vec::new(), 0_usize);
    for word in words {
        match word {
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark(')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        match word {
            Word::End if depth > 0 => {}
            Word::End | Word::Mark(';' | ':') if depth == 0 => all.push(std::mem::take(&mut current)),
            _ => current.push(word.clone()),
        }
    }
    all.push(current);
    all
}

/// The dotted name at the beginning.
fn dotted(words: &[Word]) -> String {
    let mut out = String::new();
    let mut is_after_name = false;
    for word in words {
        match word {
            Word::Mark('.') => {
                out.push('.');
                is_after_name = false;
            }
            Word::Name(name) if !is_after_name && name != "import" => {
                out.push_str(name);
                is_after_name = true;
            }
            _ => break,
        }
    }
    out
}

fn patches(words: &[Word], imports: &Imports) -> Vec<(Kind, String)> {
    let mut found = Vec::new();
    let kind_of = |name: &str| {
        let module = imports.bound.get(name)?;
        let top = module.split('.').next().unwrap_or_default();
        Some(if holds(LIBRARIES, top) { Kind::Patch } else { Kind::Assign })
    };
    for (at, word) in words.iter().enumerate() {
        let Some(name) = word.name() else { continue };
        let before = at.checked_sub(1).map(|at| &words[at]);
        if name == "getattr" && words.get(at + 1).is_some_and(|next| next.is('(')) && is_computed(&words[at + 2..]) {
            found.push((Kind::Computed, "getattr".to_owned()));
        }
        if matches!(name, "setattr" | "delattr")
            && let Some((path, _)) = path(&words[(at + 2).min(words.len())..])
            && let Some(kind) = path.first().and_then(|first| kind_of(first))
        {
            found.push((kind, format!("{name}({})", path.join("."))));
        }
        if before.is_some_and(|before| before.is('.')) {
            continue;
        }
        let Some((path, after)) = path(&words[at..]) else { continue };
        let rest = &words[at + after..];
        let is_set = rest.first().is_some_and(|word| word.is('=')) && !rest.get(1).is_some_and(|word| word.is('='));
        let is_argument = before.is_some_and(|before| before.is('(') || before.is(','));
        if path.len() > 1 && is_set && !is_argument && !holds(SETTINGS, path[1]) {
            found.extend(kind_of(path[0]).map(|kind| (kind, format!("{} =", path.join(".")))));
        }
    }
    found
}

/// Returns true if the second argument is a computed text, not a single string or name.
fn is_computed(arguments: &[Word]) -> bool {
    let mut depth = 0_usize;
    let mut second: Option<Vec<&Word>> = None;
    for word in arguments {
        match word {
            Word::Mark('(' | '[' | '{') => depth += 1,
            Word::Mark(')' | ']' | '}') if depth == 0 => break,
            Word::Mark(')' | ']' | '}') => depth -= 1,
            Word::Mark(',') if depth == 0 => {
                if second.is_some() {
                    break;
                }
                second = Some(Vec::new());
                continue;
            }
            _ => {}
        }
        if let Some(second) = &mut second {
            second.push(word);
        }
    }
    let second = second.unwrap_or_default();
    second.len() > 1 && second.iter().any(|word| matches!(word, Word::Text(_)))
}
