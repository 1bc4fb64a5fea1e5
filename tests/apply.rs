//! Writing a candidate into a file and taking it back.

#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use bass_tui::code::{CodeError, Place, Target, TargetSpec};
use proptest::prelude::*;
use tempfile::TempDir;

const STUB: &str = "import os\n\n\ndef f(x):\n    \"\"\"Doc.\"\"\"\n\n\nprint(f(1))\n";
const BODY: &str = "    if x:\n        return 1\n    return 2\n\n\nprint('no')\n";

fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stub.py");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn read(path: &Path) -> Target {
    Target::read(&TargetSpec { path: path.to_owned(), place: Place::Any }).unwrap()
}

/// Everything in a folder, so that leftovers show.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_file_keeps_everything_but_the_body() {
    let spliced = STUB.replace("\"\"\"Doc.\"\"\"\n", "\"\"\"Doc.\"\"\"\n    if x:\n        return 1\n    return 2\n");
    let windows = |t: &str| t.replace('\n', "\r\n");
    let marked = |t: &str| format!("\u{feff}{t}");
    for form in [&|t: &str| t.to_owned() as String, &windows, &marked, &|t: &str| marked(&windows(t))]
        as [&dyn Fn(&str) -> String; 4]
    {
        let (folder, path) = file(form(STUB).as_bytes());
        let applied = read(&path).apply(BODY, None).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), form(&spliced));
        assert_eq!(applied.after, form(&spliced).into_bytes());
        applied.undo().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), form(STUB));
        assert_eq!(names(folder.path()), ["stub.py"]);
    }
}

#[test]
fn mode_and_links_stay() {
    let (folder, path) = file(STUB.as_bytes());
    fs::set_permissions(&path, Permissions::from_mode(0o751)).unwrap();
    let link = folder.path().join("link.py");
    symlink("stub.py", &link).unwrap();
    read(&link).apply(BODY, None).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o751);
    assert!(fs::read_to_string(&path).unwrap().contains("return 2"));
}

#[test]
fn a_changed_file_is_left_alone_and_the_candidate_can_be_saved() {
    let (folder, path) = file(STUB.as_bytes());
    let target = read(&path);
    fs::write(&path, format!("{STUB}# edited\n")).unwrap();
    let error = target.apply(BODY, Some(&folder.path().join("backups"))).unwrap_err();
    assert!(matches!(error, CodeError::Changed { .. }), "{error}");
    assert!(error.to_string().contains("stub.py"));
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{STUB}# edited\n"));
    assert_eq!(names(folder.path()), ["stub.py"]);
    let patches = folder.path().join("state/patches");
    for name in ["stub-f.patch", "stub-f-2.patch"] {
        let patch = target.save_patch(BODY, &patches).unwrap();
        assert_eq!(patch, patches.join(name));
        insta::allow_duplicates! {
            insta::assert_snapshot!(fs::read_to_string(patch).unwrap(), @r#"
            --- a/stub.py
            +++ b/stub.py
            @@ -3,6 +3,9 @@
             
             def f(x):
                 """Doc."""
            +    if x:
            +        return 1
            +    return 2
             
             
             print(f(1))
            "#);
        }
    }
}

#[test]
fn undo_refuses_when_the_file_has_changed_since() {
    let (folder, path) = file(STUB.as_bytes());
    let backups = folder.path().join("backups");
    let applied = read(&path).apply(BODY, Some(&backups)).unwrap();
    let backup = applied.backup.clone().unwrap();
    assert_eq!(fs::read_to_string(&backup).unwrap(), STUB);
    assert!(backup.starts_with(&backups) && backup.to_string_lossy().ends_with("-stub.py"));
    fs::write(&path, "edited").unwrap();
    let error = applied.undo().unwrap_err();
    assert!(matches!(error, CodeError::ChangedSince { .. }));
    assert!(error.to_string().contains(&backup.display().to_string()));
    assert_eq!(fs::read_to_string(&path).unwrap(), "edited");
}

#[test]
fn what_must_not_be_written_is_not() {
    let (folder, path) = file(STUB.as_bytes());
    let target = read(&path);
    for empty in ["", "\n\n", "return 1\n", "    \n\ndef g():\n    pass\n"] {
        assert!(matches!(target.apply(empty, None).unwrap_err(), CodeError::Empty { .. }), "{empty}");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(target.apply(BODY, None).unwrap_err(), CodeError::ReadOnly { .. }));
    fs::remove_file(&path).unwrap();
    assert!(matches!(target.apply(BODY, None).unwrap_err(), CodeError::NoFile { .. }));
    let text = Target::in_text(STUB, target.language, &Place::Any).unwrap();
    assert!(matches!(text.apply(BODY, None).unwrap_err(), CodeError::NotAFile { .. }));
    assert_eq!(names(folder.path()), [""; 0]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn applying_and_undoing_changes_nothing(
        lines in prop::collection::vec(prop::sample::select(vec!["x = 1", "", "# é", "def g(): pass", "s = '''", "'''", "\tx"]), 0..12),
        ends in prop::collection::vec(any::<bool>(), 24),
        mark: bool,
        last: bool,
    ) {
        let mut text = if mark { "\u{feff}".to_owned() } else { String::new() };
        let stub = ["def f(x):", "    '''Doc.'''"];
        for (line, windows) in lines[..lines.len() / 2].iter().chain(&stub).chain(&lines[lines.len() / 2..]).zip(ends) {
            text.push_str(line);
            text.push_str(if windows { "\r\n" } else { "\n" });
        }
        if last {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        let (_folder, path) = file(text.as_bytes());
        let Ok(target) = Target::read(&TargetSpec { path: path.clone(), place: Place::Any }) else { return Ok(()) };
        let applied = target.apply(BODY, None).unwrap();
        prop_assert_eq!(&fs::read(&path).unwrap(), &applied.after);
        prop_assert_ne!(&applied.after, &applied.before);
        applied.undo().unwrap();
        prop_assert_eq!(fs::read(&path).unwrap(), text.into_bytes());
    }
}
