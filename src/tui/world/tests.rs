//! Writing, reading again and taking back, on files.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::LoopAction;
use crate::job::run::tests::STUB;
use crate::tui::app::state::Question;
use crate::tui::app::{Effect, Msg};
use crate::tui::keeping::tests::Screen;

/// A folder with a file of one function.
fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("twice.py");
    fs::write(&path, STUB).unwrap();
    (folder, path)
}

/// Takes the focused candidate, also while its tests still run.
fn take(screen: &mut Screen) {
    screen.key("enter");
    if screen.state.question.is_some() {
        screen.key("y");
    }
    screen.until(|msg| matches!(msg, Msg::Applied { .. }));
}

fn read_again(screen: &mut Screen) {
    screen.key("r");
    screen.until(|msg| matches!(msg, Msg::Read(_) | Msg::ReadWithout(_)));
}

/// The line that is left when the session ends now.
fn left(screen: &mut Screen) -> String {
    match screen.world.act(Effect::Quit { accept: None }) {
        LoopAction::Quit(outcome) => outcome.message.replace(&*folder_of(screen), ""),
        _ => panic!("the session ends"),
    }
}

/// The folder of the file, as a part of its path.
fn folder_of(screen: &Screen) -> String {
    let folder = screen.state.job.file().and_then(Path::parent).unwrap();
    format!("{}/", folder.display())
}

/// The candidate that is marked as the one in the file.
fn marked(screen: &Screen) -> Option<usize> {
    (0..screen.state.run.as_ref()?.candidates.len()).find(|&candidate| screen.state.is_in_file(candidate))
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn a_candidate_that_stands_in_the_file_is_known_after_that_was_read_again() {
    let (folder, path) = folder();
    let mut screen = Screen::on(&path, folder.path());
    screen.generate("g");
    take(&mut screen);
    let (pick, taken) = (marked(&screen), text(&path));
    assert!(pick.is_some());
    // Changes around it are read.
    fs::write(&path, format!("{taken}\n\nOTHER = 1\n")).unwrap();
    read_again(&mut screen);
    assert_eq!((marked(&screen), screen.state.own_body.as_ref()), (pick, None));
    assert!(screen.state.job.program("    return 1\n").contains("OTHER = 1"));
    screen.key("enter");
    screen.until(|msg| matches!(msg, Msg::Stands(true)));
    // Another candidate takes its place, and is taken back without a question.
    screen.key("tab");
    take(&mut screen);
    assert!(marked(&screen) != pick && text(&path) != taken, "{:?}", screen.state.error);
    read_again(&mut screen);
    screen.key("u");
    screen.until(|msg| matches!(msg, Msg::Undone(_)));
    assert_eq!(text(&path), format!("{STUB}\n\nOTHER = 1\n"));
    assert_eq!((marked(&screen), screen.state.question), (None, None));
}

#[test]
fn a_candidate_that_was_changed_in_the_file_is_no_longer_marked_after_that_was_read_again() {
    let (folder, path) = folder();
    let mut screen = Screen::on(&path, folder.path());
    screen.generate("g");
    take(&mut screen);
    fs::write(&path, format!("{STUB}    return 12\n")).unwrap();
    read_again(&mut screen);
    assert_eq!((marked(&screen), screen.state.own_body.as_deref()), (None, Some("    return 12\n")));
    screen.key("u");
    assert_eq!(screen.state.question, Some(Question::UndoEarlier));
}

#[test]
fn the_line_that_is_left_names_all_functions_that_were_written() {
    let (folder, path) = folder();
    fs::write(&path, format!("{STUB}\n\n{}", STUB.replace("twice", "double"))).unwrap();
    let mut screen = Screen::on(&path, folder.path());
    assert_eq!(left(&mut screen), "");
    screen.generate("g");
    take(&mut screen);
    assert_eq!(left(&mut screen), "twice was written to twice.py; `bass-tui undo` takes it back");
    screen.key("ctrl-n");
    screen.until(|msg| matches!(msg, Msg::Targeted { .. }));
    screen.generate("g");
    take(&mut screen);
    let undo = "; each `bass-tui undo` takes one write back, the last one first";
    assert_eq!(left(&mut screen), format!("twice and double were written to twice.py{undo}"));
    screen.key("u");
    screen.until(|msg| matches!(msg, Msg::Undone(_)));
    assert_eq!(left(&mut screen), "twice was written to twice.py; `bass-tui undo` takes it back");
    screen.key("u");
    screen.key("y");
    screen.until(|msg| matches!(msg, Msg::Undone(_)));
    assert_eq!(left(&mut screen), "");
}

#[test]
fn a_file_that_is_read_only_is_not_written_and_the_key_for_a_patch_is_named() {
    let (folder, path) = folder();
    let mut screen = Screen::on(&path, folder.path());
    screen.generate("g");
    let mut mode = fs::metadata(&path).unwrap().permissions();
    mode.set_readonly(true);
    fs::set_permissions(&path, mode).unwrap();
    screen.key("enter");
    screen.until(|msg| matches!(msg, Msg::ReadOnly(_)));
    assert!(screen.state.error.as_ref().unwrap().ends_with("as a patch: W"), "{:?}", screen.state.error);
    assert_eq!((text(&path).as_str(), marked(&screen)), (STUB, None));
}
