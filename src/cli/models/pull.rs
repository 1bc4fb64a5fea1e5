//! `bass-tui models pull`: the files of a model, fetched from the Hugging Face hub.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use crate::catalog::{Catalog, Entry};
use crate::cli::failure::Failure;
use crate::cli::output::{print, say};
use crate::cli::progress::Line;
use crate::cli::session::Session;
use crate::hub::{self, Access, Event, HubError, Repository, bytes};
use crate::untrusted::clean;
use crate::web::Patience;

/// Fetches the main and the draft model of an entry, or one repository.
pub fn run(session: &Session, name: &str, json: bool) -> Result<u8, Failure> {
    let repositories = repositories(&session.catalog, name)?;
    // Of a GGUF file only the whole file would show it.
    let entry = session.catalog.entry(name).or_else(|| session.catalog.by_main(name));
    if let Some(architecture) = entry.and_then(Entry::unreadable) {
        return Err(Failure::input(format!(
            "{name} is not downloaded: this version cannot read its architecture {architecture}; take a name that \
             `bass-tui models` does not say this of"
        )));
    }
    let access = Access::find().map_err(Failure::input)?;
    let mut done = Vec::new();
    for repository in &repositories {
        let shown = Mutex::new(Shown::new(&repository.to_string(), json));
        if !json {
            say(&clean(&format!("{repository}\n")));
        }
        let tell = |event: Event<'_>| shown.lock().unwrap_or_else(PoisonError::into_inner).event(&event);
        let pulled = hub::pull(repository, &session.catalog.hub, &access, Patience::default(), &tell);
        drop(shown);
        let pulled = pulled.map_err(|error| match error {
            HubError::Unreachable { .. }
            | HubError::Cut { .. }
            | HubError::Busy { .. }
            | HubError::Status { .. }
            | HubError::Write { .. }
            | HubError::Space { .. }
            | HubError::Damaged { .. } => Failure::internal(error),
            _ => Failure::input(error),
        })?;
        if !json {
            let what = if pulled.came == 0 { "was here already" } else { "is here" };
            say(&clean(&format!("{repository} {what}: {} in {}\n", bytes(pulled.bytes), pulled.folder.display())));
        }
        done.push(serde_json::json!({
            "repository": repository.to_string(), "path": pulled.folder, "bytes": pulled.bytes, "downloaded": pulled.came,
        }));
    }
    print(&if json {
        serde_json::Value::from(done).to_string() + "\n"
    } else {
        clean(&format!("use it with --model {name}\n"))
    })?;
    Ok(0)
}

/// The repositories of an entry, or the named repository.
pub fn repositories(catalog: &Catalog, name: &str) -> Result<Vec<Repository>, Failure> {
    let Some(entry) = catalog.entry(name) else {
        let repository = Repository::parse(name).ok_or_else(|| catalog.unknown("model", name, &[]));
        return Ok(vec![repository.map_err(Failure::input)?]);
    };
    if entry.server.is_some() {
        return Err(Failure::input(format!("{name} is on a server: there are no files of it")));
    }
    let sources = [Some(&entry.main), entry.draft.as_ref()];
    let found: Vec<Repository> = sources.into_iter().flatten().filter_map(|source| Repository::parse(source)).collect();
    if found.is_empty() {
        return Err(Failure::input(format!(
            "{name} is {}, which is not from the hub: there is nothing to do",
            entry.main
        )));
    }
    Ok(found)
}

/// Progress of a download: a line that is redrawn, or without a terminal a line for every file.
struct Shown {
    name: String,
    line: Line,
    quiet: bool,
    have: u64,
    wanted: u64,
    /// Bytes received, and the start time.
    came: u64,
    since: Instant,
}

impl Shown {
    fn new(name: &str, quiet: bool) -> Self {
        let (name, line) = (clean(name), Line::new(quiet));
        Self { name, line, quiet, have: 0, wanted: 0, came: 0, since: Instant::now() }
    }

    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Wanted { bytes } => self.wanted += bytes,
            Event::Bytes { count, came } => {
                self.have += count;
                self.came += if *came { *count } else { 0 };
            }
            Event::Lost { count } => self.have = self.have.saturating_sub(*count),
            Event::File { path } if !self.quiet && !Line::is_seen() => say(&clean(&format!("{}: {path}\n", self.name))),
            Event::File { .. } => {}
        }
        if self.line.due().is_some() {
            let text = self.text(self.since.elapsed().as_secs_f64());
            self.line.draw(&text);
        }
    }

    /// The line, `seconds` after the beginning.
    fn text(&self, seconds: f64) -> String {
        // With the text after it, the line has 80 columns.
        const WIDTH: u64 = 16;
        let full = if self.wanted == 0 {
            0
        } else {
            (u128::from(self.have) * u128::from(WIDTH) / u128::from(self.wanted)) as usize
        };
        let bar = "#".repeat(full.min(WIDTH as usize));
        let mut out = format!("[{bar:.<16}] {} of {}", bytes(self.have), bytes(self.wanted));
        let rate = self.came as f64 / seconds;
        if seconds > 1.0 && rate > 0.0 {
            let left = (self.wanted.saturating_sub(self.have) as f64 / rate).ceil() as u64;
            let _ = write!(out, ", {}/s, {} min {:02} s left", bytes(rate as u64), left / 60, left % 60);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_tells_how_far_it_is() {
        let mut shown = Shown::new("a/b", true);
        shown.event(&Event::Wanted { bytes: 3_000_000_000 });
        shown.event(&Event::Bytes { count: 500_000_000, came: false });
        shown.event(&Event::Bytes { count: 1_000_000_000, came: true });
        assert_eq!(shown.text(0.5), "[########........] 1.5 GB of 3.0 GB");
        assert_eq!(shown.text(10.0), "[########........] 1.5 GB of 3.0 GB, 100.0 MB/s, 0 min 15 s left");
        shown.event(&Event::Lost { count: 1_500_000_000 });
        assert!(shown.text(0.5).contains("[................] 0 bytes of"));
        shown.event(&Event::Bytes { count: u64::MAX / 2, came: true });
        let _ = shown.text(10.0);
    }
}
