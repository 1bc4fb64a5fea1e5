//! Behaviour of the palette and of settings that change, and of keys without a meaning.

use std::sync::Arc;

use super::fixture::{PROMPT, Session, body};
use super::palette::{Changed, Level, Setting, What};
use super::{Effect, Loading, Msg};
use crate::engine::GenerateOptions;
use crate::job::{Job, TestsChoice};
use crate::source::SourceInfo;
use crate::tui::keymap::{Action, Context, TABLE};
use crate::tui::layout::Arrangement;
use crate::tui::remembered::Remembered;
use crate::tui::view::scenes;

/// Settings as the program tells them.
pub fn settings() -> Vec<Setting> {
    let setting = |name: &str, value: &str, values: &[&str], number: bool| Setting {
        name: name.to_owned(),
        value: value.to_owned(),
        help: format!("What {name} is for, in a sentence of some length, with a default and a reason"),
        values: values.iter().map(|&value| value.to_owned()).collect(),
        typed: name != "theme",
        number,
        ..Setting::default()
    };
    vec![
        setting("temperature", "0.8", &["0", "0.2", "0.5", "0.8", "1"], true),
        setting("n", "8", &["1", "4", "16"], true),
        setting("seed", "0", &[], true),
        setting("draft", "auto", &["lookup", "chain", "none", "auto"], false),
        setting("tests", "as found", &["as found", "auto", "none"], false),
        setting("model", "built-in", &["built-in", "qwen2.5-coder-1.5b\u{1b}[2J"], false),
        setting("theme", "auto", &["auto", "light", "dark", "dracula"], false),
    ]
}

/// Opens the palette by a key, with the settings told.
pub fn opened(mut session: Session, key: &str) -> Session {
    session.state.palette.theme = "auto".to_owned();
    assert_eq!(session.key(key), [Effect::Settings]);
    session.send(Msg::Settings(settings()));
    session
}

pub fn type_in(session: &mut Session, text: &str) {
    for c in text.chars() {
        session.key(&if c == ' ' { "space".to_owned() } else { c.to_string() });
    }
}

/// Opens the values of a setting.
pub fn values_of(session: &mut Session, name: &str) {
    type_in(session, name);
    session.key("enter");
    let open = session.state.palette.open.as_ref().unwrap();
    assert!(matches!(&open.level, Level::Values(setting) if setting.name == name), "{:?}", open.level);
}

fn rows(session: &Session) -> Vec<String> {
    let list = &session.state.palette.open.as_ref().unwrap().list;
    (0..list.counts().1).map(|row| list.row(row).unwrap().label.clone()).collect()
}

fn said(session: &Session) -> &str {
    session.state.notice.as_ref().map_or("", |notice| &notice.text)
}

fn error(session: &Session) -> &str {
    session.state.palette.open.as_ref().and_then(|open| open.error.as_deref()).unwrap_or_default()
}

/// A session with two candidates that have ended.
fn ended() -> Session {
    let mut session = Session::tested(2);
    session.key("g");
    session.finish(0, &body(0));
    session.finish(1, &body(1));
    session.done();
    session
}

#[test]
fn it_lists_every_action_of_the_place_and_of_everywhere_and_the_settings() {
    for (session, context) in [(Session::tested(2), Context::Start), (ended(), Context::Panes)] {
        let session = opened(session, "ctrl-p");
        assert_eq!(session.state.context(), Context::Palette);
        let list = &session.state.palette.open.as_ref().unwrap().list;
        let names: Vec<&str> = (0..list.counts().1).map(|row| list.row(row).unwrap().name.as_str()).collect();
        let of = |wanted: Context| TABLE.iter().filter(move |binding| binding.context == wanted);
        for binding in of(context).chain(of(Context::Global)).filter(|binding| binding.action != Action::Palette) {
            assert_eq!(names.iter().filter(|name| **name == binding.name).count(), 1, "{}", binding.name);
        }
        assert_eq!(names.iter().filter(|name| **name == "setting").count(), settings().len() + 2);
    }
}

#[test]
fn enter_does_what_the_key_does() {
    let mut by_key = ended();
    by_key.key("z");
    let mut session = opened(ended(), ":");
    type_in(&mut session, "this candidate alone");
    assert_eq!(session.key("enter"), []);
    assert!(session.state.zoom && by_key.state.zoom);
    assert_eq!(session.state.context(), Context::Panes);
    // Also one that is of everywhere, and one that opens something.
    let mut session = opened(session, "ctrl-p");
    type_in(&mut session, "this help");
    session.key("enter");
    assert_eq!(session.state.context(), Context::Help);
    session.key("esc");
    let mut session = opened(session, "ctrl-p");
    type_in(&mut session, "anew next seed");
    let job = session.state.job.clone();
    assert_eq!(session.key("enter").last(), Some(&Effect::Generate { run: 2, job, n: 2, seed: 1 }));
}

#[test]
fn an_action_that_can_do_nothing_says_why_and_the_palette_stays() {
    let mut session = opened(ended(), ":");
    type_in(&mut session, "undo");
    let entry = session.state.palette.open.as_ref().unwrap().list.current().unwrap().clone();
    assert_eq!((entry.name.as_str(), entry.why.is_some()), ("undo", true));
    assert_eq!(session.key("enter"), []);
    assert!(error(&session).contains("nothing to undo"), "{}", error(&session));
    assert_eq!(session.state.context(), Context::Palette);
    session.key("esc");
    assert_eq!(session.key("u"), []);
    assert!(said(&session).contains("nothing to undo"), "the key says the same");
}

#[test]
fn letters_are_typed_and_esc_goes_back_one_step() {
    let mut session = opened(Session::tested(2), ":");
    type_in(&mut session, "q:,");
    assert_eq!(session.state.palette.open.as_ref().unwrap().list.query, "q:,");
    session.key("ctrl-u");
    session.send(Msg::Paste("theme\nmore".into()));
    session.key("enter");
    assert_eq!(rows(&session), ["auto", "light", "dark", "dracula"]);
    session.key("esc");
    let current = session.state.palette.open.as_ref().unwrap().list.current().unwrap().clone();
    assert!(matches!(current.what, What::Setting(setting) if setting.name == "theme"), "on what one came from");
    session.key("esc");
    assert_eq!(session.state.context(), Context::Start);
    // In the prompt a colon is a colon, and Ctrl-P opens it.
    session.key("i");
    session.key(":");
    assert!(session.state.draft.text().contains(':') && session.state.palette.open.is_none());
    let mut session = opened(session, "ctrl-p");
    session.key("ctrl-c");
    assert_eq!(session.state.context(), Context::Prompt);
    // In the picker Ctrl-P moves up, as before.
    let mut session = super::picker::tests::picking(super::picker::tests::functions());
    session.key("down");
    session.key("ctrl-p");
    assert_eq!(
        (session.state.context(), session.state.picking.open.as_ref().unwrap().list.cursor),
        (Context::Picker, 0)
    );
}

#[test]
fn a_theme_is_seen_while_it_is_chosen_and_esc_takes_the_old_one_back() {
    let theme = |name: &str| Effect::Theme(name.to_owned());
    let mut session = opened(Session::tested(2), ",");
    values_of(&mut session, "theme");
    assert_eq!(session.key("down"), [theme("light")]);
    assert_eq!(session.key("end"), [theme("dracula")]);
    assert_eq!(session.key("end"), [], "it is shown already");
    assert_eq!(session.key("esc"), [theme("auto")]);
    session.key("enter");
    session.key("down");
    assert_eq!(session.key("ctrl-c"), [theme("auto")], "whatever closes it");
    let mut session = opened(session, ",");
    values_of(&mut session, "theme");
    session.key("end");
    let remembered = Remembered { layout: Some(Arrangement::Fit), wrap: Some(true), theme: Some("dracula".to_owned()) };
    assert_eq!(session.key("enter"), [Effect::Remember(remembered)]);
    assert_eq!(session.state.palette.theme, "dracula");
    session.key("esc");
    assert_eq!(session.key("ctrl-p"), [Effect::Settings], "nothing is taken back");
    // One that cannot be read is not taken.
    let mut session = opened(Session::tested(2), ",");
    values_of(&mut session, "theme");
    session.key("end");
    session.send(Msg::NoTheme { name: "dracula".into(), why: "theme `dracula`: no colour".into() });
    assert_eq!(error(&session), "theme `dracula`: no colour");
    assert_eq!(session.key("enter"), []);
    assert_eq!((session.state.palette.theme.as_str(), session.state.remembered().theme), ("auto", None));
}

#[test]
fn a_number_is_what_was_typed_and_never_a_part_of_another() {
    let set = |name: &str, value: &str| Effect::Set { name: name.to_owned(), value: value.to_owned() };
    let mut session = opened(ended(), ",");
    type_in(&mut session, "temperature");
    session.key("enter");
    session.key("esc");
    session.key("enter");
    type_in(&mut session, "0.");
    assert_eq!(session.key("enter"), [set("temperature", "0.")]);
    session
        .send(Msg::Set { name: "temperature".into(), result: Err("temperature is `0.`, expected 0 or more".into()) });
    assert!(error(&session).contains("expected") && session.state.context() == Context::Palette);
    session.key("5");
    assert_eq!(session.key("enter"), [set("temperature", "0.5")]);
    let mut options = GenerateOptions { n: 60, ..GenerateOptions::default() };
    options.sampling.temperature = 0.5;
    let changed = |value: &str| Ok(Box::new(Changed { value: value.into(), options: options.clone(), loads: false }));
    session.send(Msg::Set { name: "temperature".into(), result: changed("0.5") });
    assert!((session.state.options.sampling.temperature - 0.5).abs() < 1e-6);
    assert_eq!(session.state.options.n, 2, "no other option changes");
    assert!(said(&session).contains("from the next candidates on; R writes them"), "{}", said(&session));
    assert!(matches!(session.state.palette.open.as_ref().unwrap().level, Level::Settings), "several may follow");
    // A row is a value as well.
    session.key("ctrl-u");
    type_in(&mut session, "model");
    session.key("enter");
    session.key("down");
    assert_eq!(session.key("enter"), [set("model", "qwen2.5-coder-1.5b\u{1b}[2J")]);
}

#[test]
fn a_seed_that_was_set_is_the_next_one_and_then_they_go_on() {
    let mut session = ended();
    let options = GenerateOptions { seed: 40, n: 2, ..GenerateOptions::default() };
    session.send(Msg::Set {
        name: "seed".into(),
        result: Ok(Box::new(Changed { value: "40".into(), options, loads: false })),
    });
    // The second one is asked for while the first is being written.
    let seeds: Vec<u64> = (0..3)
        .flat_map(|_| session.key("R"))
        .filter_map(|effect| if let Effect::Generate { seed, .. } = effect { Some(seed) } else { None })
        .collect();
    assert_eq!(seeds, [40, 41]);
}

#[test]
fn another_model_is_loaded_while_the_old_one_goes_on() {
    let mut session = ended();
    let loads = |session: &mut Session| {
        let changed = Changed { value: "big".into(), options: GenerateOptions::default(), loads: true };
        session.send(Msg::Set { name: "model".into(), result: Ok(Box::new(changed)) });
    };
    loads(&mut session);
    assert!(said(&session).contains("big is being loaded"));
    assert!(matches!(session.key("R").last(), Some(Effect::Generate { .. })), "the old one writes");
    session.send(Msg::Reopened(Err("there is no such file".into())));
    assert_eq!(
        session.state.error.as_deref(),
        Some("big cannot be used: there is no such file; the model is the one of before")
    );
    assert!(matches!(&session.state.loading, Loading::Ready(info) if &*info.model == "main-1b"));
    loads(&mut session);
    session.send(Msg::Reopened(Ok(SourceInfo { model: "big\u{1b}".into(), ..SourceInfo::default() })));
    assert!(matches!(&session.state.loading, Loading::Ready(info) if info.model.starts_with("big")));
    assert!(
        session.state.error.is_none() && said(&session).contains("is loaded") && !said(&session).contains('\u{1b}')
    );
}

#[test]
fn a_model_that_is_being_loaded_is_in_the_list_and_in_words_that_fit() {
    let path = "/models/of/a/deep/folder/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf";
    let mut session = opened(ended(), ",");
    let changed = Changed { value: path.into(), options: GenerateOptions::default(), loads: true };
    session.send(Msg::Set { name: "model".into(), result: Ok(Box::new(changed)) });
    let screen = scenes::text(&scenes::draw(&session.state, 80, 24));
    assert!(screen.contains("the old one goes on"), "{screen}");
    session.send(Msg::Settings(settings()));
    values_of(&mut session, "model");
    let list = |session: &Session| -> Vec<(String, String)> {
        let list = &session.state.palette.open.as_ref().unwrap().list;
        let row = |row| list.row(row).map(|entry| (entry.label.clone(), entry.name.clone())).unwrap();
        (0..list.counts().1).map(row).collect()
    };
    let first = list(&session);
    assert_eq!(first[0], (path.to_owned(), "is being loaded".to_owned()));
    assert_eq!(first[1], ("built-in".to_owned(), "now".to_owned()));
}

#[test]
fn a_typed_path_goes_on_as_far_as_its_names_are_the_same() {
    let mut session = opened(ended(), ",");
    assert_eq!(session.key("tab"), [], "the list of settings has no paths");
    values_of(&mut session, "model");
    let set = |value: &str| Effect::Set { name: "model".to_owned(), value: value.to_owned() };
    type_in(&mut session, "/m/l");
    assert_eq!(session.key("tab"), [Effect::Names("/m/l".to_owned())]);
    let names = ["llama-q4.gguf", "llama-q8.gguf", "other.gguf"].map(str::to_owned).to_vec();
    session.send(Msg::Names { line: "/m".into(), names: names.clone() });
    let query = |session: &Session| session.state.palette.open.as_ref().unwrap().list.query.clone();
    assert_eq!(query(&session), "/m/l", "names for another line come too late");
    session.send(Msg::Names { line: "/m/l".into(), names: names.clone() });
    assert_eq!((query(&session).as_str(), rows(&session).len()), ("/m/llama-q", 2));
    session.key("down");
    assert_eq!(session.key("enter"), [set("/m/llama-q8.gguf")]);
    session.key("4");
    session.send(Msg::Names { line: "/m/llama-q4".into(), names });
    assert_eq!(query(&session), "/m/llama-q4.gguf");
    assert_eq!(session.key("enter"), [set("/m/llama-q4.gguf")]);
    session.send(Msg::Names { line: "/m/llama-q4.gguf".into(), names: Vec::new() });
    assert_eq!(error(&session), "nothing begins with /m/llama-q4.gguf");
}

#[test]
fn other_tests_judge_the_candidates_that_are_there() {
    let mut session = ended();
    session.verdict(0, crate::trial::Status::Passed, "");
    session.verdict(1, crate::trial::Status::Passed, "");
    let job = Arc::new(Job::from_text(PROMPT, &TestsChoice::None).unwrap());
    assert_eq!(session.send(Msg::OtherTests(job.clone())), [Effect::Use { job }]);
    assert!(!session.state.has_tests() && said(&session).contains("tests: none"));
    let job = Arc::new(Job::from_text(PROMPT, &TestsChoice::Auto).unwrap());
    let test = |candidate| Effect::Test { run: 1, candidate };
    assert_eq!(session.send(Msg::OtherTests(job.clone())), [Effect::Use { job }, test(0), test(1)]);
    assert!(said(&session).contains("tested again"));
}

#[test]
fn layout_wrap_and_a_chosen_theme_are_remembered_however_they_change() {
    let remembered = |layout, wrap| Remembered { layout: Some(layout), wrap: Some(wrap), theme: None };
    let mut session = ended();
    assert_eq!(session.key("v"), [Effect::Remember(remembered(Arrangement::Grid, true))]);
    assert_eq!(session.key("w"), [Effect::Remember(remembered(Arrangement::Grid, false))]);
    session.key(">");
    let column = |session: &Session| session.run().candidates[0].scroll.column;
    assert_eq!(column(&session), 8);
    let mut session = opened(session, ",");
    values_of(&mut session, "layout");
    session.key("end");
    assert_eq!(session.key("enter"), [Effect::Remember(remembered(Arrangement::List, false))]);
    session.key("ctrl-u");
    values_of(&mut session, "wrap");
    session.key("home");
    assert_eq!(session.key("enter"), [Effect::Remember(remembered(Arrangement::List, true))]);
    assert_eq!(column(&session), 0, "wrapped lines are not shifted");
    let mut next = Session::tested(2);
    next.state.remember(&session.state.remembered());
    assert_eq!((next.state.arrangement, next.state.wrap), (Arrangement::List, true));
    assert_eq!(next.key("g").len(), 1, "what was taken over is not written again");
}

#[test]
fn a_setting_is_kept_by_a_key() {
    let mut session = opened(Session::tested(3), ",");
    session.key("down");
    let keep = Effect::Keep { name: "n".to_owned(), value: "3".to_owned() };
    assert_eq!(session.key("ctrl-s"), [keep], "with the value that + and - have made");
    session.send(Msg::Kept(Ok("/c/config.toml".into())));
    assert_eq!(said(&session), "kept in /c/config.toml");
    type_in(&mut session, "layout");
    assert_eq!(session.key("ctrl-s"), []);
    assert!(error(&session).contains("remembered"));
}

#[test]
fn a_key_without_a_meaning_here_says_where_it_has_one() {
    let mut session = Session::tested(2);
    session.key("d");
    assert!(said(&session).starts_with("d works once there are candidates: differences"), "{}", said(&session));
    session.key("ctrl-b");
    assert_eq!(said(&session), "? lists the keys");
    session.key("esc");
    assert_eq!(said(&session), "q leaves");
    let mut session = ended();
    session.key("D");
    assert!(said(&session).starts_with("D works in the differences (d)"), "{}", said(&session));
    session.key("t");
    session.key("z");
    assert!(said(&session).starts_with("z works among the candidates (Esc)"), "{}", said(&session));
    // Typed text, and keys that come faster than fingers, mean nothing else.
    for (keys, place) in [("/", Context::Search), ("i", Context::Prompt), ("?", Context::Help), (":", Context::Palette)]
    {
        let mut session = ended();
        session.key(keys);
        session.key("ctrl-b");
        assert_eq!((said(&session), session.state.context()), ("", place));
    }
    let mut session = ended();
    session.key("z");
    session.now -= 10;
    session.key("D");
    assert_eq!(said(&session), "");
}

#[test]
fn nothing_that_waits_for_an_answer_is_answered_behind_the_palette() {
    let mut session = opened(ended(), ":");
    session.state.question = Some(super::state::Question::Take { candidate: 0 });
    assert_eq!((session.state.context(), session.key("y")), (Context::Palette, Vec::new()));
    session.key("ctrl-u");
    type_in(&mut session, "accept");
    assert_eq!(session.key("enter"), [], "the question comes first");
    assert_eq!(session.state.context(), Context::Question);
}
