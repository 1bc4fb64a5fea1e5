//! Folders and processes that trials of this program left behind.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders and processes of trials, but for those whose folder `is_used`.
pub fn of_trials(is_used: impl Fn(&Path) -> bool) -> Vec<String> {
    let mark = format!("bass-tui-run-{}-", std::process::id());
    let folder = |name: &str| Some(std::env::temp_dir().join(name)).filter(|folder| !is_used(folder));
    let names = fs::read_dir(std::env::temp_dir()).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.filter_map(|name| name.into_string().ok()).filter(|name| name.starts_with(&mark));
    let mut left: Vec<String> = names.filter_map(|name| folder(&name)).map(|path| path.display().to_string()).collect();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        // Zombies have no environment any more.
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let home = environment.split(|&byte| byte == 0).find_map(|variable| variable.strip_prefix(b"HOME="));
        let home = home.map(|home| PathBuf::from(String::from_utf8_lossy(home).into_owned()));
        let inside = home.as_deref().and_then(|home| home.strip_prefix(std::env::temp_dir()).ok());
        let name = inside.and_then(|path| path.iter().next()?.to_str()).filter(|name| name.starts_with(&mark));
        if name.and_then(folder).is_some() {
            left.push(format!("process {}", entry.file_name().display()));
        }
    }
    left
}
