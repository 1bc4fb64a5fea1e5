//! `bass-tui models remove`: the files of a model, deleted from the Hugging Face cache.

use std::io::{BufRead, IsTerminal};

use super::pull::repositories;
use crate::cli::failure::Failure;
use crate::cli::output::{print, say};
use crate::cli::session::Session;
use crate::hub::{Repository, bytes};
use crate::untrusted::clean;

/// Deletes the cached files of an entry or a repository. A draft model that another local entry needs is
/// kept.
pub fn run(session: &Session, name: &str, yes: bool, json: bool) -> Result<u8, Failure> {
    let catalog = &session.catalog;
    let mut doomed = repositories(catalog, name)?;
    if let Some(entry) = catalog.entry(name) {
        let needed = |repository: &Repository| {
            let others = catalog.entries.iter().filter(|other| other.name != entry.name);
            let is_it = |source: &String| Repository::parse(source).is_some_and(|named| named.is_same(repository));
            let mut users = others.filter(|other| is_it(&other.main) || other.draft.as_ref().is_some_and(is_it));
            users.any(|other| catalog.resolve_main(Some(&other.name)).is_ok())
        };
        // The main model is always deleted: it was named.
        let drafts = doomed.split_off(1);
        doomed.extend(drafts.into_iter().filter(|draft| !needed(draft)));
    }
    let doomed: Vec<_> =
        doomed.iter().filter_map(|repository| Some((repository, catalog.hub.held(repository)?))).collect();
    if doomed.is_empty() {
        let folder = catalog.hub.folder.display();
        return Err(Failure::input(format!("nothing of {name} is in {folder}: there is nothing to delete")));
    }
    if !yes {
        for (repository, held) in &doomed {
            say(&clean(&format!("{repository}: {} in {}\n", bytes(held.bytes), held.folder.display())));
        }
        if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
            return Err(Failure::input("models remove asks before it deletes, and there is no terminal: add --yes"));
        }
        say("Delete this? [y/N] ");
        let mut answer = String::new();
        let _ = std::io::stdin().lock().read_line(&mut answer);
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            say("nothing was deleted\n");
            return Ok(0);
        }
    }
    let mut freed = 0;
    for (_, held) in &doomed {
        held.delete().map_err(|e| Failure::internal(format!("{} cannot be deleted: {e}", held.folder.display())))?;
        freed += held.bytes;
    }
    let names: Vec<String> = doomed.iter().map(|(repository, _)| repository.to_string()).collect();
    print(&if json {
        serde_json::json!({"removed": names, "bytes": freed}).to_string() + "\n"
    } else {
        clean(&format!("deleted {}: {}\n", names.join(", "), bytes(freed)))
    })?;
    Ok(0)
}
