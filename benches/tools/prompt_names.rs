//! How much of what a function's body needs its prompt tells: the share of the names in the true body that
//! stand in the prompt, at equal numbers of tokens, against the prompt of small models and against simply the
//! text before the function.
//!
//! `cargo run --release --example prompt_names -- FOLDER [FUNCTIONS] [TOKENIZER.json]`

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bass_tui::code::{Place, Target, TargetSpec, Word, function_names, mentioned, names, outline, words};
use bass_tui::language::Language;
use bass_tui::model::Tokenizer;
use bass_tui::prompt::{self, Options, Tests, Told};
use bass_tui::source::Window;

const BUDGETS: [usize; 3] = [256, 1024, 4096];
/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 200_000;
/// Least lines of a body.
const LEAST: usize = 3;

/// Names found and names looked for: all, and those that the file itself defines.
#[derive(Clone, Copy, Default)]
struct Share {
    all: (usize, usize),
    own: (usize, usize),
}

impl Share {
    fn add(&mut self, text: &str, wanted: &HashSet<String>, own: &HashSet<String>) {
        let told: HashSet<&str> = mentioned(text).collect();
        for name in wanted {
            let found = usize::from(told.contains(name.as_str()));
            self.all = (self.all.0 + found, self.all.1 + 1);
            if own.contains(name) {
                self.own = (self.own.0 + found, self.own.1 + 1);
            }
        }
    }

    fn show(self) -> String {
        let percent = |(found, of): (usize, usize)| 100.0 * found as f64 / of.max(1) as f64;
        format!("{:5.1} {:5.1}", percent(self.all), percent(self.own))
    }
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && !path.is_symlink() {
            files(&path, found);
        } else if Language::of_path(&path).is_some() && path.metadata().is_ok_and(|meta| meta.len() <= MAX_FILE) {
            found.push(path);
        }
    }
}

/// The text before the function, as much as fits, and its stub.
fn nearest(target: &Target, window: &Window, budget: usize) -> String {
    let (before, stub) = (&target.text[..target.stub_start()], target.stub());
    let starts: Vec<usize> = std::iter::once(0).chain(before.match_indices('\n').map(|(at, _)| at + 1)).collect();
    let fits = |start: &&usize| window.count(&before[**start..]) + window.count(&stub) <= budget;
    let (mut low, mut high) = (0, starts.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if fits(&&starts[middle]) { high = middle } else { low = middle + 1 }
    }
    format!("{}{stub}", &before[starts.get(low).copied().unwrap_or(before.len())..])
}

/// Names that files of this text know: what it defines and imports, and fields.
fn defined(language: Language, text: &str) -> HashSet<String> {
    let mut known: HashSet<String> = outline(language, text).into_iter().flat_map(|item| item.names).collect();
    for field in text.split("self.").skip(1).chain(text.split("this.").skip(1)) {
        known.extend(mentioned(field).next().map(str::to_owned));
    }
    known
}

/// Names that a body gives to values of its own, which nobody has to tell it.
fn bound(language: Language, body: &str) -> HashSet<String> {
    let words = words(language, body);
    let is = |at: usize, mark: char| words.get(at).is_some_and(|word| word.is(mark));
    let name = |at: usize| words.get(at).and_then(Word::name);
    let mut found = HashSet::new();
    for at in 0..words.len() {
        let Some(this) = name(at) else { continue };
        let before = at.checked_sub(1);
        let field = before.is_some_and(|at| is(at, '.'));
        let assigned = is(at + 1, '=') && !is(at + 2, '=') || is(at + 1, ':') && is(at + 2, '=');
        let listed = is(at + 1, ',')
            && (at + 2..words.len())
                .take_while(|&i| name(i).is_some() || is(i, ','))
                .last()
                .is_some_and(|last| is(last + 1, '=') || name(last) == Some("in"));
        let said =
            before.and_then(name).is_some_and(|word| ["as", "for", "let", "const", "var", "mut"].contains(&word));
        if !field && (assigned || listed || said) {
            found.insert(this.to_owned());
        }
    }
    found
}

fn main() {
    let mut args = std::env::args().skip(1);
    let folder = args.next().expect("a folder of source files");
    let most: usize = args.next().map_or(500, |n| n.parse().expect("a number of functions"));
    let window = args.next().map_or_else(Window::default, |path| {
        let bytes = std::fs::read(&path).expect("a tokenizer.json");
        Window::new("", 0, 0, Arc::new(Tokenizer::read(Path::new(&path), &bytes).expect("a tokenizer")))
    });
    let keywords: HashSet<&str> = include_str!("keywords.txt").split_whitespace().collect();
    let mut paths = Vec::new();
    files(Path::new(&folder), &mut paths);
    let mut all = Vec::new();
    for path in &paths {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let language = Language::of_path(path).expect("a language");
        all.extend(function_names(language, &text).into_iter().filter(|f| f.finished).map(|f| (path, f.line)));
    }
    let (mut plain, mut nearest_text, mut grown) = (Share::default(), [Share::default(); 3], [Share::default(); 3]);
    let mut count = 0;
    let step = (all.len() / most).max(1);
    for (path, line) in all.iter().step_by(step) {
        let spec = TargetSpec { path: (*path).clone(), place: Place::Line(*line) };
        let Ok(target) = Target::read(&spec) else { continue };
        let body = &target.text[target.body.clone()];
        if body.lines().count() < LEAST {
            continue;
        }
        let stub: HashSet<String> = mentioned(&target.stub()).map(str::to_owned).collect();
        let is_wanted = |name: &String| {
            !keywords.contains(name.as_str()) && !stub.contains(name) && !name.starts_with(|c: char| c.is_ascii_digit())
        };
        let local = bound(target.language, body);
        let wanted: HashSet<String> =
            names(target.language, body).into_iter().filter(|name| is_wanted(name) && !local.contains(name)).collect();
        let rest = format!("{}{}", &target.text[..target.stub_start()], &target.text[target.body.end..]);
        let own = defined(target.language, &rest);
        count += 1;
        plain.add(&target.prompt(), &wanted, &own);
        for (i, budget) in BUDGETS.into_iter().enumerate() {
            nearest_text[i].add(&nearest(&target, &window, budget), &wanted, &own);
            let shown = prompt::of(
                &target,
                &Tests::default(),
                &window,
                Options { tokens: Some(budget), ..Options::default() },
                Told::default(),
            );
            grown[i].add(&shown.text, &wanted, &own);
        }
    }
    println!("{count} functions of {} files; % of all names, % of names that the file defines", paths.len());
    println!("{:>7} | {:>12} | {:>12} | {:>12}", "tokens", "small", "text before", "prompt");
    for (i, budget) in BUDGETS.into_iter().enumerate() {
        println!("{budget:7} | {:>12} | {:>12} | {:>12}", plain.show(), nearest_text[i].show(), grown[i].show());
    }
}
