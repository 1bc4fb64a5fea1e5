//! `bass-tui paths`: every file and folder that the program reads or writes.

use std::path::Path;

use serde::Serialize;

use super::failure::Failure;
use super::output::{print, print_json};
use super::session::project_place;
use crate::backend::cuda;
use crate::catalog::Others;
use crate::config::{Paths, Place};
use crate::hub::{Access, HubCache};
use crate::untrusted::clean_line;

/// Arguments of `paths`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is made or changed. Files of your own code are written only by --apply, by the screen when you take a candidate, and by undo.

EXAMPLES
  bass-tui paths
  bass-tui paths --json
  XDG_CACHE_HOME=/big/cache bass-tui paths

EXIT CODES
  0 printed   2 wrong usage, or no home folder")]
pub struct Args {
    /// Print a JSON list
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// A line of the output.
#[derive(Serialize)]
struct Line {
    what: &'static str,
    path: String,
    is_there: bool,
    is_folder: bool,
    moved_by: Vec<&'static str>,
}

pub fn run(args: &Args) -> Result<u8, Failure> {
    let paths = Paths::find().map_err(Failure::input)?;
    let lines: Vec<Line> = places(&paths).iter().map(line).collect();
    if args.json {
        print_json(&serde_json::to_string(&lines).unwrap_or_default())?;
    } else {
        print(&text(&lines))?;
    }
    Ok(0)
}

/// The places of the program, then those of others that it shares.
fn places(paths: &Paths) -> Vec<Place> {
    let mut places = paths.places();
    if let Some(file) = project_place(Path::new(".")) {
        places.push(Place::file(&file, "settings of this folder's project", &[]));
    }
    places.push(Place::folder(&std::env::temp_dir(), "folders of running tests (bass-tui-run-*)", &["TMPDIR"]));
    places.push(Place::folder(&HubCache::find().folder, "models of the Hugging Face hub", HubCache::VARIABLES));
    if let Some(file) = Access::token_file() {
        places.push(Place::file(&file, "token for the hub, read only", Access::TOKEN_FILE_VARIABLES));
    }
    let others = Others::find();
    places.extend(
        others.ollama.iter().map(|folder| Place::folder(folder, "models of Ollama, read only", Others::VARIABLES)),
    );
    places.extend(others.lm_studio.iter().map(|folder| Place::folder(folder, "models of LM Studio, read only", &[])));
    let bundles = cuda::Libraries::default().bundles;
    places.extend(bundles.iter().map(|file| Place::file(file, "compiled kernels, read only", &[])));
    places
}

fn line(place: &Place) -> Line {
    Line {
        what: place.what,
        path: place.path.to_string_lossy().into_owned(),
        is_there: place.path.exists(),
        is_folder: place.is_folder,
        moved_by: place.moved_by.clone(),
    }
}

fn text(lines: &[Line]) -> String {
    let width = lines.iter().map(|line| line.what.len()).max().unwrap_or(0);
    let text = |line: &Line| {
        let moved_by = match line.moved_by.as_slice() {
            [] => String::new(),
            variables => format!("  ({})", variables.join(", ")),
        };
        // A name that is no path of one line is shown as one all the same.
        let path = clean_line(&line.path, usize::MAX);
        let folder = if line.is_folder && !path.ends_with('/') { "/" } else { "" };
        let there = if line.is_there { "there " } else { "absent" };
        format!("{:width$}  {there}  {path}{folder}{moved_by}\n", line.what)
    };
    lines.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::server::Key;

    #[test]
    fn places_are_where_their_users_look_for_them() {
        let folder = |name: &str| Path::new("/p").join(name);
        let paths = Paths { config_dir: folder("c"), state_dir: folder("s"), cache_dir: folder("k") };
        assert_eq!(paths.keys_file(), paths.config_dir.join(Key::FILE));
        let all = places(&paths);
        assert!(all.iter().all(|place| !place.what.is_empty()));
        let text = text(&all.iter().map(line).collect::<Vec<_>>());
        assert_eq!(text.lines().count(), all.len());
        assert!(text.contains("absent  /p/c/config.toml  (BASS_TUI_CONFIG_DIR, XDG_CONFIG_HOME)\n"), "{text}");
        assert!(text.contains("  /p/k/builds/baselines/  (BASS_TUI_CACHE_DIR, XDG_CACHE_HOME)\n"), "{text}");
    }
}
