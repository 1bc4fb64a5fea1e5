//! A candidate in the user's own editor, inside its file. An edited file that cannot be taken from stays on
//! the disk, and is opened again the next time.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

use crate::code::Target;
use crate::files;

/// Programs that are tried when no variable names an editor.
const USUAL: [&str; 3] = ["editor", "nano", "vi"];

/// A candidate as it was saved and true if nothing else was changed; nothing if it is as before. The error is
/// a sentence.
type Edited = Result<Option<(String, bool)>, String>;

/// A candidate: its file, its function, and the file with it.
type Of = (Option<PathBuf>, String, String);

/// Folders with edited files that could not be taken from. Nothing of a static is dropped at the end of the
/// process, so what the user wrote outlives it.
static LEFT: Mutex<BTreeMap<Of, TempDir>> = Mutex::new(BTreeMap::new());

fn left() -> MutexGuard<'static, BTreeMap<Of, TempDir>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens the file of `target` with `candidate` in it, as a copy in a folder of its own. If nothing can be
/// taken from what the user wrote there, the copy stays, and the next call for the candidate opens it again.
pub fn edit(target: &Target, candidate: &str) -> Edited {
    edit_with(&editor(|name| env::var_os(name))?, target, candidate)
}

fn edit_with(words: &[String], target: &Target, candidate: &str) -> Edited {
    let before = target.splice(candidate);
    let of = (target.path.clone(), target.name.clone(), before.clone());
    let name = target
        .path
        .as_deref()
        .and_then(Path::file_name)
        .map_or_else(|| format!("candidate.{}", target.language.extensions()[0]).into(), OsString::from);
    let known = left().remove(&of).filter(|folder| folder.path().join(&name).is_file());
    let is_new = known.is_none();
    let wrong = |why: io::Error| format!("the candidate could not be put into a file to edit: {why}");
    let begun = || tempfile::Builder::new().prefix("bass-tui-edit-").tempdir();
    let folder = known.map_or_else(begun, Ok).map_err(wrong)?;
    let file = folder.path().join(name);
    if is_new {
        fs::write(&file, &before).map_err(wrong)?;
    }
    let line = 1 + target.text[..target.replaced().start].matches('\n').count() + target.moves_by(candidate);
    let understood = opened(words, &file, line).and_then(|after| {
        let read = (after != before).then(|| target.candidate_in(&after)).transpose();
        read.map_err(|why| format!("the edited file was not understood: {why}"))
    });
    understood.map_err(|why| {
        if !fs::read(&file).is_ok_and(|bytes| bytes != before.as_bytes()) {
            return why;
        }
        left().insert(of, folder);
        let file = file.display();
        format!("{why}; what you wrote is kept as {file}, and editing the candidate again opens it")
    })
}

/// Waits for the editor on a file; returns the text that it leaves.
fn opened(words: &[String], file: &Path, line: usize) -> Result<String, String> {
    let ended = Command::new(&words[0]).args(arguments(words, file, line)).status();
    let ended = ended.map_err(|why| format!("the editor {} could not be started: {why}", words[0]))?;
    if !ended.success() {
        return Err(format!("the editor {} ended with {ended}, so nothing was taken", words[0]));
    }
    files::text(file, files::TEXT).map_err(|why| format!("the edited file cannot be read: {why}"))
}

/// The words of the user's editor command.
fn editor(var: impl Fn(&str) -> Option<OsString>) -> Result<Vec<String>, String> {
    for name in ["VISUAL", "EDITOR"] {
        let Some(value) = var(name).filter(|value| !value.is_empty()) else { continue };
        let text = value.to_string_lossy();
        return match shell_words::split(&text) {
            Ok(words) if !words.is_empty() => Ok(words),
            _ => Err(format!("${name} is not a command: {text}")),
        };
    }
    let path = var("PATH").unwrap_or_default();
    let is_there = |name: &&str| env::split_paths(&path).any(|folder| folder.join(name).is_file());
    let found = USUAL.into_iter().find(is_there);
    found.map(|name| vec![name.to_owned()]).ok_or_else(|| "no editor is named: set $VISUAL or $EDITOR".to_owned())
}

/// The arguments of an editor: its own, then the file at a line, as that editor takes it.
fn arguments(words: &[String], file: &Path, line: usize) -> Vec<OsString> {
    let mut out: Vec<OsString> = words[1..].iter().map(OsString::from).collect();
    let name = Path::new(&words[0]).file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let at_line = || {
        let mut text = file.as_os_str().to_owned();
        text.push(format!(":{line}"));
        text
    };
    match name {
        "vi" | "vim" | "nvim" | "nano" | "emacs" | "emacsclient" | "kak" | "micro" | "joe" | "ne" | "mcedit" => {
            out.extend([format!("+{line}").into(), file.into()]);
        }
        "hx" | "helix" | "zed" | "subl" => out.push(at_line()),
        "code" | "codium" | "code-insiders" | "cursor" => {
            if !out.iter().any(|word| word == "--wait" || word == "-w") {
                out.push("--wait".into());
            }
            out.extend(["-g".into(), at_line()]);
        }
        _ => out.push(file.into()),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Place;

    #[test]
    fn what_was_written_is_kept_until_it_is_understood() {
        let text = "def double(x):\n    \"\"\"Twice x.\"\"\"\n";
        let target = Target::in_editor(Path::new("doubles.py"), text, &Place::Any).unwrap();
        // An editor that changes the file and ends with this.
        let edit = |change: &str, end: u8| {
            let script = format!("sed '{change}' \"$1\" >\"$1.new\" && mv \"$1.new\" \"$1\"; exit {end}");
            edit_with(&["sh", "-c", &script, "sh"].map(str::to_owned), &target, "    return x\n")
        };
        let after = |why: &str| why.split_once("kept as ").unwrap().1.to_owned();
        let kept = |why: &str| PathBuf::from(after(why).split_once(", and ").unwrap().0);
        assert!(!edit("", 1).unwrap_err().contains("kept"), "nothing was written");
        let why = edit("s/double/twice/", 0).unwrap_err();
        let file = kept(&why);
        assert!(why.contains("not understood") && file.ends_with("doubles.py"), "{why}");
        assert!(fs::read_to_string(&file).unwrap().contains("def twice(x)"));
        // It is opened again, and kept again.
        let why = edit("s/return x/return x + x/", 3).unwrap_err();
        assert!(why.contains("exit status: 3") && kept(&why) == file, "{why}");
        assert_eq!(edit("s/twice/double/", 0), Ok(Some(("    return x + x\n".to_owned(), true))));
        assert!(!file.exists() && !file.parent().unwrap().exists());
        assert_eq!(edit("", 0), Ok(None), "from here on it is the candidate again");
    }

    #[test]
    fn the_editor_is_the_one_that_the_user_names() {
        let with = |pairs: &[(&str, &str)]| {
            let pairs: Vec<(String, OsString)> = pairs.iter().map(|(n, v)| ((*n).to_owned(), v.into())).collect();
            editor(move |name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.clone()))
        };
        assert_eq!(with(&[("VISUAL", "code -n"), ("EDITOR", "vi")]).unwrap(), ["code", "-n"]);
        assert_eq!(with(&[("VISUAL", ""), ("EDITOR", "'my editor' -x")]).unwrap(), ["my editor", "-x"]);
        assert!(with(&[("EDITOR", "'open")]).unwrap_err().contains("$EDITOR"));
        assert!(with(&[("PATH", "/nowhere")]).unwrap_err().contains("$VISUAL"));
    }

    #[test]
    fn each_editor_goes_to_the_line_in_its_own_way() {
        let of = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            let out = arguments(&words, Path::new("a.py"), 7);
            out.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of("/usr/bin/nvim -u x"), "-u x +7 a.py");
        assert_eq!(of("hx"), "a.py:7");
        assert_eq!(of("code"), "--wait -g a.py:7");
        assert_eq!(of("ed"), "a.py");
    }
}
