//! Texts with random damage: sources of all languages, settings, catalogs, themes and problem sets. Each is
//! read or refused with a sentence; nothing panics, hangs or takes memory without end.
//!
//! `DAMAGED_TEXTS=13000 cargo test --lib damaged` tries so many.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::catalog::Catalog;
use crate::code::{self, Place, Target};
use crate::damage::{Random, damage};
use crate::eval;
use crate::hub::HubCache;
use crate::language::Language;
use crate::options::Settings;
use crate::prompt;
use crate::source::Window;
use crate::tui::theme::{Depth, Theme};

const FEW: u64 = 16;

/// Time after which a reader hangs: most take a millisecond.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sources beyond this size only take long.
const LARGE: usize = 8000;

/// Pieces put between pieces of sources: once, or many times.
const PIECES: &[&str] = &[
    "(", ")", "{", "}", "[", "]", "<", ">", "</a>", "<a>", "'", "\"", "`", "${", "'''", "\"\"\"", "/*", "*/", "//",
    "#", "r#\"", "=>", "->", "\\", "\r", "\t", "\0", "\u{feff}", "é", "🙂", "def f():\n", "fn f() {", "function f() {",
    "func f() {", "class A", "@", "?.", ":", ";", ",", "...", "<T,>", "async ", "if ", "else ", "return ", "\n",
    "\n    ", "'a ", "|x| ", "::<", "#[", "macro_rules! m {",
];

/// Files below a folder with this ending.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|own| own == ending));
    files.sort();
    assert!(!files.is_empty(), "{folder} has no file with {ending}");
    files
}

/// Sources by language; TypeScript is also fed what is only JavaScript.
fn sources() -> Vec<(Language, Vec<PathBuf>)> {
    let javascript = files("tests/hostile/shared/javascript", "js");
    vec![
        (Language::Python, [files("examples", "py"), files("tests/everyday", "py")].concat()),
        (Language::TypeScript, javascript.clone()),
        (Language::JavaScript, javascript),
        (Language::Rust, [files("src/code", "rs"), files("tests/hostile/shared/rust", "rs")].concat()),
        (Language::Go, files("tests/hostile/shared/go", "go")),
    ]
}

fn mutated(text: &[u8], random: &mut Random) -> String {
    let mut bytes = text[..text.len().min(LARGE)].to_vec();
    for _ in 0..=random.below(3) {
        if random.below(2) == 0 && !bytes.is_empty() {
            let whole = bytes.len();
            bytes = damage(&bytes, whole, random);
        }
        let at = random.below(bytes.len());
        let times = if random.below(8) == 0 { random.below(300) } else { random.below(3) };
        let piece = random.one_of(PIECES).repeat(times);
        drop(bytes.splice(at..at, piece.into_bytes()));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// All that is done with a source before a model or the tests see it.
fn read_source(language: Language, text: &str, random: &mut Random) {
    let names = code::function_names(language, text);
    code::callers(language, text, &["f", "g"]);
    code::normalise(language, text);
    code::blanked(language, text);
    code::outline(language, text);
    code::words(language, text);
    code::trim_candidate(language, random.below(9), text);
    if let Some(end) = code::function_end(language, 4, text) {
        assert!(text.is_char_boundary(end));
    }
    let line = Place::Line(1 + random.below(text.lines().count()));
    let named = names.get(random.below(names.len())).map(|found| Place::Function(found.name.clone()));
    for place in [Some(Place::Any), Some(line), named].into_iter().flatten() {
        let Ok(mut target) = Target::in_text(text, language, &place) else { continue };
        target.path = Some(PathBuf::from("/nowhere/source"));
        let _ = target.with_stub(&target.stub());
        let options = prompt::Options { tokens: Some(400), ..prompt::Options::default() };
        prompt::of(&target, &prompt::Tests::default(), &Window::default(), options, prompt::Told::default());
    }
}

/// Settings of all kinds: any of them reads any text.
fn read_settings(text: &str) {
    let file = Path::new("/nowhere/settings.toml");
    for said in [
        Settings::parse(text, file).err().map(|error| error.to_string()),
        Catalog::parse(text, file, HubCache { folder: "/nowhere".into() }, crate::catalog::Others::default())
            .err()
            .map(|error| error.to_string()),
        Theme::parse("own", text, Depth::True).err().map(|error| error.to_string()),
    ] {
        assert!(said.is_none_or(|said| !said.is_empty()));
    }
}

fn read_problems(text: &str) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    if let Err(why) = eval::load(&[file.path().to_path_buf()]) {
        assert!(why.contains(&*file.path().to_string_lossy()), "{why}");
    }
}

fn try_one(seed: u64, sources: &[(Language, Vec<PathBuf>)], settings: &[&str]) {
    let mut random = Random(seed);
    match random.below(8) {
        0 => {
            let text = random.one_of(settings);
            read_settings(&mutated(text.as_bytes(), &mut random));
        }
        1 => {
            let rows = include_str!("../data/damaged/problems.jsonl");
            read_problems(&mutated(rows.as_bytes(), &mut random));
        }
        _ => {
            let (language, files) = &sources[random.below(sources.len())];
            let text = mutated(&fs::read(&files[random.below(files.len())]).unwrap(), &mut random);
            read_source(*language, &text, &mut random);
        }
    }
}

/// The most memory that this process has had, in KiB.
#[cfg(target_os = "linux")]
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// In a process of its own, because its memory is measured.
#[test]
fn damaged_texts_are_read_or_refused() {
    let name = format!("{}::child", module_path!().split_once("::").expect("a module").1);
    let mut child = std::process::Command::new(std::env::current_exe().unwrap());
    let output = child.args(["--exact", &name, "--ignored", "--nocapture"]).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "run by the test above"]
fn child() {
    let count = std::env::var("DAMAGED_TEXTS").ok().and_then(|count| count.parse().ok()).unwrap_or(FEW);
    let from: u64 = std::env::var("DAMAGED_FROM").ok().and_then(|from| from.parse().ok()).unwrap_or(0);
    let (told, tried) = mpsc::channel();
    // On a thread with the stack that the program's own threads have.
    let worker = thread::Builder::new().stack_size(2 << 20).spawn(move || {
        let settings = [
            include_str!("../../models.toml"),
            include_str!("../../themes/dark.toml"),
            include_str!("../../themes/light.toml"),
        ];
        let sources = sources();
        for seed in from..from + count {
            try_one(seed, &sources, &settings);
            let _ = told.send(seed);
        }
    });
    let worker = worker.unwrap();
    let mut last = None;
    while last != Some(from + count - 1) {
        match tried.recv_timeout(PATIENCE) {
            Ok(seed) => last = Some(seed),
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("after {last:?} nothing was read any more"),
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
        }
    }
    assert!(worker.join().is_ok(), "the one after {last:?} (DAMAGED_FROM) panicked");
    #[cfg(target_os = "linux")]
    assert!(peak() < 1 << 20, "{} KiB of memory", peak());
}
