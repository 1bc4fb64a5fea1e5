//! `bass-tui history`: the runs that were kept.

mod report;
mod show;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::failure::Failure;
use super::output::{columns_of_stdout, number, print, print_json, say};
use super::{tui, undo};
use crate::config::Paths;
use crate::history::{History, Kept, day_and_time};
use crate::job::label;
use crate::untrusted::clean_line;

/// Arguments of `history`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Each run of the screen and of complete is kept in the state folder, in a file of its own that nobody else may read: its \
prompt, candidates and verdicts. The oldest go once there are 500, or 64 MiB of them. `history = false` in config.toml, or \
--no-history, keeps none. An id may be shortened as long as only one run's begins so.

EXAMPLES
  bass-tui history                       all runs, the newest first
  bass-tui history show --last           prompt, candidates and verdicts
  bass-tui history show 3f2 --candidate B
  bass-tui history report 3f2 > run.md
  bass-tui history resume 3f2            the screen with its candidates, as they were
  bass-tui history undo 3f2              take back what it wrote

EXIT CODES
  0 done   2 there is no such run, or what it wrote cannot be taken back"
)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Things to do with kept runs.
#[derive(Debug, Subcommand)]
enum Action {
    /// All runs, the newest first
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// The prompt, candidates and verdicts of a run
    Show {
        #[command(flatten)]
        which: Which,
        /// One candidate only
        #[arg(long, value_name = "A|B|…")]
        candidate: Option<String>,
        /// Print the lines of its file, a JSON object each
        #[arg(long, conflicts_with = "candidate")]
        json: bool,
    },
    /// A run as Markdown
    Report {
        #[command(flatten)]
        which: Which,
    },
    /// Take back what a run wrote, while the file is as it left it
    Undo {
        #[command(flatten)]
        which: Which,
    },
    /// The screen with the candidates of a run, as they were
    Resume {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        screen: Box<tui::ScreenArgs>,
    },
    /// Remove all kept runs
    Clear,
}

/// The run that is meant.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// Id of the run, or its beginning
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// The newest run
    #[arg(long)]
    last: bool,
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let paths = Paths::find().map_err(Failure::input)?;
    let history = History::at(paths.runs_dir());
    let kept = |which: &Which| history.read(which.id.as_deref()).map_err(Failure::input);
    match &args.action {
        None => list(&history, args.json)?,
        Some(Action::List { json }) => list(&history, *json)?,
        Some(Action::Show { which, json: true, .. }) => {
            let kept = kept(which)?;
            let head = crate::history::What::Run(Box::new(kept.head));
            let head = crate::history::Line { ms: 0, what: head };
            for line in std::iter::once(&head).chain(&kept.lines) {
                print_json(&serde_json::to_string(line).map_err(Failure::internal)?)?;
            }
        }
        Some(Action::Show { which, candidate, .. }) => {
            let kept = kept(which)?;
            let only = candidate.as_deref().map(|name| named(name, &kept)).transpose()?;
            print(&only.map_or_else(|| show::run(&kept), |candidate| show::candidate(&kept, candidate)))?;
        }
        Some(Action::Report { which }) => print(&report::markdown(&kept(which)?))?,
        Some(Action::Undo { which }) => {
            let applied = kept(which)?.written(&paths.backups_dir()).map_err(Failure::input)?;
            return undo::take_back(&applied, &paths);
        }
        Some(Action::Resume { which, screen }) => return tui::resume(&kept(which)?, screen),
        Some(Action::Clear) => {
            let count = history.clear().map_err(Failure::internal)?;
            say(&format!("{} removed\n", number(count, "kept run")));
        }
    }
    Ok(0)
}

/// The index of the candidate with this letter.
fn named(name: &str, kept: &Kept) -> Result<usize, Failure> {
    let wanted = name.trim().to_ascii_uppercase();
    (0..kept.n()).find(|candidate| label(*candidate) == wanted).ok_or_else(|| {
        let range = if kept.n() == 1 { "A".to_owned() } else { format!("A to {}", label(kept.n() - 1)) };
        let has = number(kept.n(), "candidate");
        Failure::input(format!("--candidate is {name}, expected {range}: the run has {has}"))
    })
}

fn list(history: &History, as_json: bool) -> Result<(), Failure> {
    let runs: Vec<Kept> = history.runs().collect();
    if as_json {
        let runs: Vec<Value> = runs.iter().map(about).collect();
        return print_json(&json!({ "runs": runs }).to_string());
    }
    if runs.is_empty() {
        say("no run is kept yet: bass-tui and bass-tui complete keep theirs\n");
        return Ok(());
    }
    let subjects: Vec<String> = runs.iter().map(|kept| kept.head.subject()).collect();
    let subject = |(kept, subject): (&Kept, &String)| {
        let same = runs.iter().zip(&subjects).filter(|(_, other)| *other == subject);
        let is_clear = same.into_iter().all(|(other, _)| other.head.file == kept.head.file);
        if is_clear { subject.clone() } else { placed(kept) }
    };
    let subjects: Vec<String> = runs.iter().zip(&subjects).map(subject).collect();
    let mut rows: Vec<[String; 7]> = runs.iter().zip(&subjects).map(|(kept, subject)| row(kept, subject)).collect();
    let columns = columns_of_stdout();
    if let Some(columns) = columns {
        let [room, of_model] = rooms(&rows, columns);
        let models: Vec<String> = runs.iter().map(|kept| clean_line(&kept.head.model, usize::MAX)).collect();
        for ((row, subject), model) in rows.iter_mut().zip(&subjects).zip(&models) {
            let most = room.min(WIDEST);
            row[WHAT] = clean_line(&end_of(subject, most), most);
            row[MODEL] = apart(model, &models, of_model);
        }
    }
    let wishes = runs.iter().map(|kept| kept.head.wish.as_deref());
    print(&with_wishes(&table(&HEAD, &rows), wishes, columns.unwrap_or(MOST)))
}

/// Most columns of a sentence in a file or a pipe.
const MOST: usize = 200;

/// The columns of the list.
const HEAD: [&str; 7] = ["ID", "WHEN", "WHAT", "MODEL", "N", "PASSED", "TAKEN"];
const WHAT: usize = 2;
const MODEL: usize = 3;
/// Least columns of what a run is of and by.
const LEAST: usize = 16;

/// Columns of what a run is of, and of its model, where the list has so many in all.
fn rooms(rows: &[[String; 7]], columns: usize) -> [usize; 2] {
    let widths = widths(&HEAD, rows);
    let others: usize = widths.iter().map(|width| width + GAP).sum::<usize>() - widths[WHAT] - widths[MODEL] - GAP;
    let room = columns.saturating_sub(others).max(LEAST);
    let model = widths[MODEL].min((room / 3).max(room.saturating_sub(widths[WHAT])));
    [room - model, model]
}

/// A run as a JSON object.
fn about(kept: &Kept) -> Value {
    let head = &kept.head;
    let candidates = kept.candidates();
    json!({
        "id": kept.file.id,
        "at_ms": head.at,
        "file": head.file,
        "function": head.function,
        "wish": head.wish,
        "model": head.model,
        "draft": head.draft,
        "n": kept.generated(),
        "seed": head.seed,
        "finished": candidates.iter().filter(|c| c.reason.is_some()).count(),
        "passed": candidates.iter().filter(|c| c.has_passed()).count(),
        "failed": candidates.iter().filter(|c| c.has_failed()).count(),
        "picked": kept.picked(),
        "taken": kept.taken().map(|taken| json!({ "candidate": taken.candidate, "path": taken.path })),
    })
}

/// The function of a run with its folder, as it is seen from here or from the home folder.
fn placed(kept: &Kept) -> String {
    let subject = kept.head.subject();
    let Some(folder) = kept.head.file.as_deref().and_then(Path::parent) else { return subject };
    let below = |top: PathBuf, name: &str| Some(Path::new(name).join(folder.strip_prefix(top).ok()?));
    let here = std::env::current_dir().ok().and_then(|here| below(here, ""));
    let home = || std::env::home_dir().and_then(|home| below(home, "~"));
    here.or_else(home).unwrap_or_else(|| folder.to_path_buf()).join(subject).display().to_string()
}

/// The end of a text of more than this many characters, behind a mark.
fn end_of(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        text.to_owned()
    } else {
        format!("…{}", text.chars().skip(count + 1 - most).collect::<String>())
    }
}

/// The name of a model in so many columns. Where its beginning is that of another one as well, it begins with
/// the word that tells them apart.
fn apart(model: &str, all: &[String], most: usize) -> String {
    let shared = |other: &String| model.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let longest = all.iter().filter(|other| *other != model).map(shared).max().unwrap_or(0);
    if model.width() <= most || longest + 1 < most {
        return clean_line(model, most);
    }
    let same: String = model.chars().take(longest).collect();
    let from = same.rfind(['-', '_', '/', ':', ' ']).map_or(0, |at| at + 1);
    clean_line(&format!("…{}", &model[from..]), most)
}

/// Most columns of a function in the list.
const WIDEST: usize = 60;

/// The list with the sentence of a run that changed a function below its row, in so many columns.
fn with_wishes<'a>(table: &str, wishes: impl Iterator<Item = Option<&'a str>>, columns: usize) -> String {
    let mut out = String::new();
    for (line, wish) in table.lines().zip(std::iter::once(None).chain(wishes)) {
        let _ = writeln!(out, "{line}");
        if let Some(wish) = wish {
            let _ = writeln!(out, "        {}", clean_line(&format!("wish: {wish}"), columns.saturating_sub(8)));
        }
    }
    out
}

/// A run as a row of the list.
fn row(kept: &Kept, subject: &str) -> [String; 7] {
    let candidates = kept.candidates();
    let passed = candidates.iter().filter(|c| c.has_passed()).count();
    let failed = candidates.iter().filter(|c| c.has_failed()).count();
    let tests = match (passed, failed) {
        (0, 0) => "-".to_owned(),
        (passed, failed) => format!("{passed} of {}", passed + failed),
    };
    [
        kept.file.id.clone(),
        day_and_time(kept.head.at),
        clean_line(&end_of(subject, WIDEST), WIDEST),
        clean_line(&kept.head.model, 24),
        kept.n().to_string(),
        tests,
        taken(kept),
    ]
}

/// The candidate that was taken, `B`; what the run said without, `(picked B)`.
fn taken(kept: &Kept) -> String {
    match (kept.taken(), kept.picked()) {
        (Some(taken), _) => taken.candidate.map_or_else(|| "yes".to_owned(), label),
        (None, Some(picked)) => format!("(picked {})", label(picked)),
        (None, None) => "-".to_owned(),
    }
}

/// Columns between two of a table.
const GAP: usize = 2;

/// The width of each column of a table: of its widest text.
fn widths<const N: usize>(head: &[&str; N], rows: &[[String; N]]) -> Vec<usize> {
    let width = |column: usize| {
        let own = rows.iter().map(|row| row[column].width());
        own.chain([head[column].len()]).max().unwrap_or_default()
    };
    (0..N).map(width).collect()
}

/// Rows under a head.
fn table<const N: usize>(head: &[&str; N], rows: &[[String; N]]) -> String {
    let widths = widths(head, rows);
    let mut out = String::new();
    for row in std::iter::once(head.map(str::to_owned)).chain(rows.iter().cloned()) {
        let mut line = String::new();
        for (text, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{text}{}", " ".repeat(width.saturating_sub(text.width()) + GAP));
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_the_columns_and_the_model_gives_way_with_what_the_run_is_of() {
        let row = |what: &str, model: &str| {
            ["0d6d6d", "2026-11-30 18:33", what, model, "16", "2 of 16", "(picked B)"].map(str::to_owned)
        };
        let long =
            row("text_utils.py:wrap_words: raise ValueError if width is less than 1", "qwen2.5-coder-1.5b-inst…");
        let total = |rows: &[[String; 7]], [what, model]: [usize; 2]| {
            let widths = widths(&HEAD, rows);
            widths.iter().map(|width| width + GAP).sum::<usize>() - GAP - widths[WHAT] - widths[MODEL] + what + model
        };
        let rows = [long, row("calc.py:add", "built-in")];
        for columns in [80, 100, 140] {
            assert_eq!(total(&rows, rooms(&rows, columns)), columns);
        }
        assert_eq!(rooms(&rows, 80), [18, 9]);
        assert_eq!(rooms(&rows[1..], 80), [19, 8], "a short name of a model stays whole");
        assert_eq!(rooms(&rows, 10).iter().sum::<usize>(), LEAST);
        let models = ["qwen2.5-coder-1.5b-instruct", "qwen2.5-coder-0.5b-instruct", "built-in"].map(str::to_owned);
        let cut = |columns| models.clone().map(|model| apart(&model, &models, columns));
        assert_eq!(cut(9), ["…1.5b-in…", "…0.5b-in…", "built-in"]);
        assert_eq!(cut(18)[0], "qwen2.5-coder-1.5…");
        let shown = with_wishes("ID\n1\n2\n", [Some("also accept None"), None].into_iter(), 24);
        assert_eq!(shown, "ID\n1\n        wish: also acce…\n2\n");
    }
}
