//! A candidate in the user's own editor, inside its file.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::code::Target;
use crate::files;

/// Programs that are tried when no variable names an editor.
const USUAL: [&str; 3] = ["editor", "nano", "vi"];

/// Opens the file of `target` with `candidate` in it, as a copy in a folder of its own. Returns the candidate
/// as it was saved and true if nothing else was changed; nothing if it is as before. The error is a sentence.
pub fn edit(target: &Target, candidate: &str) -> Result<Option<(String, bool)>, String> {
    let words = editor(|name| env::var_os(name))?;
    let before = target.splice(candidate);
    let wrong = |why: std::io::Error| format!("the candidate could not be put into a file to edit: {why}");
    let folder = tempfile::Builder::new().prefix("bass-tui-edit-").tempdir().map_err(wrong)?;
    let name = target
        .path
        .as_deref()
        .and_then(Path::file_name)
        .map_or_else(|| format!("candidate.{}", target.language.extensions()[0]).into(), OsString::from);
    let file = folder.path().join(name);
    fs::write(&file, &before).map_err(wrong)?;
    let line = 1 + target.text[..target.body.start].matches('\n').count() + target.moves_by(candidate);
    let arguments = arguments(&words, &file, line);
    let ended = Command::new(&words[0]).args(arguments).status();
    let ended = ended.map_err(|why| format!("the editor {} could not be started: {why}", words[0]))?;
    if !ended.success() {
        return Err(format!("the editor {} ended with {ended}, so nothing was taken", words[0]));
    }
    let after = files::text(&file, files::TEXT).map_err(|why| format!("the edited file cannot be read: {why}"))?;
    if after == before {
        return Ok(None);
    }
    target.candidate_in(&after).map(Some).map_err(|why| format!("the edited file was not understood: {why}"))
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
