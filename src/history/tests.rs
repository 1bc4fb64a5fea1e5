//! Writing, reading, damage, bounds and permissions of kept runs.

use std::fs;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::channel;

use super::*;
use crate::agreement::{Agreement, Witness};
use crate::engine::{Event as From, FinishReason, Summary};
use crate::job::run::tests::{STUB, Scripted, TEXTS, ask, unsteady};
use crate::job::{Event, Job, Outcome, Run, TestsChoice};
use crate::source::SourceInfo;
use crate::trial::{Assurance, Effect, Input, LeftOut, Observed, Status, Verdict};

fn job() -> Job {
    Job::from_text(STUB, &TestsChoice::Auto).unwrap()
}

fn head(n: usize) -> Head {
    let options = crate::engine::GenerateOptions { n, seed: 7, ..Default::default() };
    let info = SourceInfo { model: "main-1b".into(), draft: "none".into(), ..SourceInfo::default() };
    Head::of(&job(), &info, &options)
}

fn finished(candidate: usize, text: &str) -> Event {
    let (reason, text, mean_logprob) = (FinishReason::Stop, text.to_owned(), Some(-0.25));
    Event::Source(From::Finished { candidate, reason, text, mean_logprob })
}

fn verdict(candidate: usize, status: Status) -> Event {
    let assurance = Box::new(Assurance {
        runner: "doctest".into(),
        marks: vec!["it reads the frames".into()],
        checks: Vec::new(),
        left_out: LeftOut::default(),
    });
    let verdict = Verdict { status, duration_ms: 12, assurance, output: "é".repeat(9000), ..Verdict::not_run("said") };
    Event::Verdict { candidate, outcome: Ok(verdict) }
}

fn done() -> Event {
    Event::Source(From::Done(Box::new(Summary { ranking: vec![1, 0], tokens_per_second: 99.0, ..Summary::default() })))
}

/// A run with two candidates.
fn two(history: &History) -> Recorder {
    let recorder = history.begin(&head(2)).unwrap();
    for event in [finished(0, "    a\n"), finished(1, "    b\n"), done()] {
        assert_eq!(recorder.event(&event), None);
    }
    for event in [verdict(0, Status::Failed), verdict(1, Status::Passed), Event::Pick(Some(1))] {
        assert_eq!(recorder.event(&event), None);
    }
    recorder
}

fn history() -> (tempfile::TempDir, History) {
    let folder = tempfile::tempdir().unwrap();
    let history = History::at(folder.path().join("runs"));
    (folder, history)
}

#[test]
fn what_was_written_is_read_again() {
    let (_folder, history) = history();
    let recorder = two(&history);
    let kept = history.read(Some(recorder.id())).unwrap();
    assert_eq!((kept.head.n, kept.head.seed, kept.head.stub.as_str()), (2, 7, STUB));
    assert_eq!((kept.head.subject().as_str(), kept.head.tests.as_str()), ("twice", "doctest"));
    assert_eq!(kept.head.settings["temperature"], 0.8);
    assert!(kept.head.is_of(&job()));
    assert!(!fs::read_to_string(&kept.file.path).unwrap().contains("wish"), "nothing was wanted");
    let candidates = kept.candidates();
    assert_eq!((candidates[0].text.as_str(), candidates[0].has_failed()), ("    a\n", true));
    let tested = candidates[1].tested.clone().unwrap();
    assert_eq!((tested.status, tested.runner.as_str(), tested.duration_ms), (Some(Status::Passed), "doctest", 12));
    assert!(tested.output.len() < 9000, "output is bounded");
    assert_eq!((kept.picked(), kept.ranking()), (Some(1), vec![1, 0]));
    assert!(kept.taken().is_none());
}

#[test]
fn files_are_for_their_owner_only() {
    let (folder, history) = history();
    let runs = folder.path().join("runs");
    fs::create_dir(&runs).unwrap();
    fs::set_permissions(&runs, fs::Permissions::from_mode(0o755)).unwrap();
    two(&history);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&runs), mode(&history.files()[0].path)), (0o700, 0o600));
}

#[test]
fn what_candidates_agree_on_is_told_again_as_it_was_last() {
    let (_folder, history) = history();
    let recorder = history.begin(&head(2)).unwrap();
    let ends = |agreement: &Arc<Agreement>| {
        let (candidates, picked, agreement) = (Vec::new(), Some(0), Some(agreement.clone()));
        Event::Done(Box::new(Outcome { candidates, summary: Summary::default(), picked, agreement }))
    };
    let agreement = |votes: usize| {
        let input = Input { callee: "twice".into(), arguments: "2".into(), ..Input::default() };
        let observed = Observed { effect: Effect::Returned, key: "4".into(), shown: "4".into(), ..Observed::default() };
        let witness = Witness { members: (0..votes).collect(), votes, observed: vec![observed] };
        Arc::new(Agreement::of(vec![input].into(), vec![witness]))
    };
    let (one, both) = (agreement(1), agreement(2));
    for event in [finished(0, "    a\n"), done(), ends(&one), ends(&one), Event::Agreement(both.clone()), ends(&both)] {
        assert_eq!(recorder.event(&event), None);
    }
    let kept = history.read(None).unwrap();
    let lines = kept.lines.iter().filter(|line| matches!(line.what, What::Agreement(_))).count();
    assert_eq!(lines, 2, "the same one is written once");
    let events = kept.events();
    let told = |(_, event): &(u64, Event)| if let Event::Agreement(found) = event { Some(found.words()) } else { None };
    assert_eq!(events.iter().filter_map(told).collect::<Vec<_>>(), ["2 of 2 agree"]);
}

/// Answers of the user come back, and the prompt with its examples.
#[test]
fn answers_are_kept_with_the_prompt_that_has_their_examples() {
    let (_folder, history) = history();
    let recorder = history.begin(&head(1)).unwrap();
    assert_eq!(history.read(None).unwrap().stub(), head(1).stub);
    let right = Observed { effect: Effect::Returned, key: "4".into(), shown: "4".into(), ..Observed::default() };
    let stub = format!("{}    # more\n", head(1).stub);
    recorder.said(Said::of(&[("twice(2)".to_owned(), right.clone())], &stub, "doctest"));
    let kept = history.read(None).unwrap();
    assert_eq!((kept.stub(), kept.tests()), (stub.as_str(), "doctest"));
    assert_eq!(kept.said().unwrap().answers(), [("twice(2)".to_owned(), right)]);
}

/// All ways to cut a file: what is whole is read, and nothing panics.
#[test]
fn cut_and_damaged_lines_are_read_past() {
    let (_folder, history) = history();
    let recorder = two(&history);
    let file = history.find(None).unwrap();
    let whole = fs::read(&file.path).unwrap();
    let all = history.read(None).unwrap().lines.len();
    let mut counts = std::collections::BTreeSet::new();
    for end in (0..whole.len()).step_by(7) {
        fs::write(&file.path, &whole[..end]).unwrap();
        if let Ok(kept) = history.read(None) {
            counts.insert(kept.lines.len());
            drop((kept.candidates(), kept.events(), kept.ranking()));
        }
    }
    assert_eq!(counts, (0..all).collect(), "each line by itself");

    let text = String::from_utf8(whole).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1] = "{\"kind\":\"finished\",\"candidate\":0,\u{0}";
    lines.insert(2, "{\"kind\":\"dreamt\",\"of\":3}");
    lines.insert(
        3,
        "{\"kind\":\"finished\",\"candidate\":99999999999,\"text\":\"\",\"tokens\":99999999999,\"reason\":\"stop\"}",
    );
    lines.insert(4, "");
    fs::write(&file.path, lines.join("\n")).unwrap();
    let kept = history.read(None).unwrap();
    assert_eq!(kept.candidates()[1].text, "    b\n");
    assert_eq!(kept.candidates()[0].reason, None, "the damaged one");
    kept.events();

    // Lines that are added after a cut stand on their own.
    fs::write(&file.path, text.trim_end().strip_suffix('}').unwrap()).unwrap();
    let added = history.append(recorder.id()).unwrap();
    added.handed_over("    b\n");
    assert_eq!(history.read(None).unwrap().taken().unwrap().candidate, Some(1));

    fs::write(&file.path, text.replacen("\"version\":1", "\"version\":2", 1)).unwrap();
    let error = history.read(None).unwrap_err().to_string();
    assert!(error.contains("a newer bass-tui wrote it"), "{error}");
    assert_eq!(history.runs().count(), 0);
}

#[test]
fn the_oldest_go_when_there_are_too_many_or_they_are_too_large() {
    let (folder, mut history) = history();
    history.most_runs = 3;
    let begin = |history: &History, at: u64| {
        let head = Head { at, ..head(1) };
        history.begin(&head).unwrap().id().to_owned()
    };
    let ids: Vec<String> = (1..=5).map(|at| begin(&history, at)).collect();
    let kept: Vec<String> = history.files().into_iter().map(|file| file.id).collect();
    assert_eq!(kept, [ids[4].clone(), ids[3].clone(), ids[2].clone()]);
    history.most_bytes = 1;
    let last = begin(&history, 6);
    assert_eq!(history.files().into_iter().map(|file| file.id).collect::<Vec<_>>(), [last]);
    // Files of others are left alone.
    let notes = folder.path().join("runs/notes.jsonl");
    fs::write(&notes, "mine").unwrap();
    assert_eq!(history.clear().unwrap(), 1);
    assert!(notes.exists());
}

#[test]
fn a_run_that_is_too_large_is_said_once_and_goes_on() {
    let (_folder, history) = history();
    let recorder = history.begin(&head(2)).unwrap();
    let large = finished(0, &"x".repeat(MOST_OF_RUN as usize));
    let why = recorder.event(&large).unwrap();
    assert!(why.contains("8 MiB") && why.contains("history = false"), "{why}");
    assert_eq!(recorder.event(&large), None);
    assert!(history.read(None).unwrap().lines.is_empty());
}

#[test]
fn a_folder_that_cannot_be_written_is_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let history = History::at(folder.path().join("file/runs"));
    let error = history.begin(&head(1)).unwrap_err().to_string();
    assert!(error.contains("file/runs cannot be written"), "{error}");
    assert_eq!((history.files(), history.clear().unwrap()), (Vec::new(), 0));
}

#[test]
fn ids_may_be_shortened_while_they_are_unique() {
    let (folder, history) = history();
    assert!(history.find(None).unwrap_err().to_string().contains("no run is kept yet"));
    fs::create_dir(folder.path().join("runs")).unwrap();
    for (at, id) in [(1, "abc123"), (2, "abd456"), (3, "0f0f0f")] {
        fs::write(folder.path().join(format!("runs/{at:013}-{id}.jsonl")), "").unwrap();
    }
    for other in ["0-abc123.jsonl", "0000000000001-xyz.jsonl", "0000000000001-abcdef.json"] {
        fs::write(folder.path().join("runs").join(other), "").unwrap();
    }
    let find = |id: &str| history.find(Some(id)).map(|file| file.id).map_err(|error| error.to_string());
    assert_eq!(find("ABC"), Ok("abc123".to_owned()));
    assert_eq!(history.find(None).unwrap().id, "0f0f0f");
    assert!(find("ab").unwrap_err().contains("2 kept runs begin with `ab`: abd456, abc123"));
    let unknown = find("abc124").unwrap_err();
    assert!(unknown.contains("did you mean `abc123`?") && unknown.contains("0f0f0f, abd456, abc123"), "{unknown}");
    assert!(find("").is_err() && find("../x").is_err());
}

/// The events of a real run, kept and told again, end in the same candidates, verdicts and pick.
#[test]
fn a_run_is_told_again_as_it_was() {
    let (_folder, history) = history();
    let recorder = history.begin(&Head { n: TEXTS.len(), ..head(1) }).unwrap();
    let (pool, _) = unsteady();
    let (send, receive) = channel();
    let sink = Box::new(move |event| {
        assert_eq!(recorder.event(&event), None);
        let _ = send.send(event);
        ControlFlow::Continue(())
    });
    let _run = Run::start(&Scripted, Some(&pool), ask(false), sink);
    let outcome = receive.iter().find_map(|event| if let Event::Done(outcome) = event { Some(outcome) } else { None });
    let outcome = outcome.unwrap();
    let kept = history.read(None).unwrap();
    assert_eq!((kept.picked(), kept.ranking()), (outcome.picked, outcome.summary.ranking.clone()));
    for (own, other) in kept.candidates().iter().zip(&outcome.candidates) {
        assert_eq!((&own.text, own.mean_logprob), (&other.text, other.mean_logprob));
        assert_eq!(own.tested.as_ref().unwrap().status, Some(other.verdict.status));
    }
    let events = kept.events();
    let told = |wanted: fn(&Event) -> bool| events.iter().filter(|(_, event)| wanted(event)).count();
    assert_eq!(told(|event| matches!(event, Event::Source(From::Finished { .. }))), TEXTS.len());
    assert_eq!((told(|event| matches!(event, Event::Verdict { .. })), told(|e| matches!(e, Event::Done(_)))), (3, 1));
}

#[test]
fn of_several_verdicts_the_last_counts_and_a_run_without_an_end_has_one() {
    let (_folder, history) = history();
    let recorder = history.begin(&head(1)).unwrap();
    for event in [finished(0, "    a\n"), verdict(0, Status::Failed), verdict(0, Status::Passed)] {
        recorder.event(&event);
    }
    let kept = history.read(None).unwrap();
    assert!(kept.candidates()[0].has_passed());
    let events = kept.events();
    let verdicts = events.iter().filter_map(|(_, event)| match event {
        Event::Verdict { outcome, .. } => Some(outcome.as_ref().unwrap().status),
        _ => None,
    });
    assert_eq!(verdicts.collect::<Vec<_>>(), [Status::Passed]);
    assert!(matches!(events.last(), Some((_, Event::Source(From::Done(_))))));
}

/// The change that was wanted is part of the prompt.
#[test]
fn a_run_is_of_the_wish_that_it_was_written_for() {
    let (_folder, history) = history();
    let options = crate::engine::GenerateOptions::default();
    let of = |job: &Job| {
        let recorder = history.begin(&Head::of(job, &SourceInfo::default(), &options)).unwrap();
        history.read(Some(recorder.id())).unwrap()
    };
    let now = job().wishing(Some("of today"));
    let wished = of(&job().wishing(Some("also of None")));
    assert_eq!(wished.head.wish.as_deref(), Some("also of None"));
    assert_eq!(wished.job(&now).unwrap().wish(), Some("also of None"));
    assert_eq!(of(&job()).job(&now).unwrap().wish(), None);
}

#[test]
fn what_a_run_wrote_is_taken_back_while_the_file_allows_it() {
    let (folder, history) = history();
    let (path, backups) = (folder.path().join("twice.py"), folder.path().join("backups"));
    fs::write(&path, STUB).unwrap();
    let spec = crate::code::TargetSpec { path: path.clone(), place: crate::code::Place::Any };
    let target = crate::code::Target::read(&spec).unwrap();
    let job = Job::from_target(target.clone(), &TestsChoice::Auto).unwrap();
    let options = crate::engine::GenerateOptions { n: 2, ..Default::default() };
    let recorder = history.begin(&Head::of(&job, &SourceInfo::default(), &options)).unwrap();
    recorder.event(&finished(1, "    return x + x\n"));
    let apply = || {
        let applied = target.apply("    return x + x\n", Some(&backups)).unwrap();
        assert_eq!(recorder.applied(1, &applied, target.diff("    return x + x\n")), None);
        applied
    };
    apply();
    let kept = history.read(None).unwrap();
    let taken = kept.taken().unwrap();
    assert_eq!((taken.candidate, taken.diff.contains("+    return x + x")), (Some(1), true));
    let applied = kept.written(&backups).unwrap();
    applied.undo().unwrap();
    history.undone(applied.backup.as_deref().unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), STUB);
    let kept = history.read(None).unwrap();
    assert!(kept.taken().is_none());
    assert!(kept.written(&backups).unwrap_err().to_string().contains("nothing that was written"));

    apply();
    fs::write(&path, "mine\n").unwrap();
    let error = history.read(None).unwrap().written(&backups).unwrap_err().to_string();
    assert!(error.contains("has changed since"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine\n");

    // The job of the run: of the same text whatever else has changed; of an edited stub only in the same file.
    let read = |text: &str| {
        fs::write(&path, text).unwrap();
        Job::from_target(crate::code::Target::read(&spec).unwrap(), &TestsChoice::Auto).unwrap()
    };
    assert!(kept.head.is_of(&read(STUB)));
    let other = read(&format!("import os\n\n\n{STUB}"));
    assert_eq!(kept.job(&other).unwrap(), other);
    let other = read(&STUB.replace("Twice x", "Two times x"));
    let why = kept.job(&other).unwrap_err();
    assert!(why.contains("twice.py has changed since this run") && why.contains("`twice`"), "{why}");
    let now = read(STUB);
    let edited = now.edited(&format!("{STUB}    y = x\n")).unwrap();
    history.begin(&Head { at: super::now() + 1, ..Head::of(&edited, &SourceInfo::default(), &options) }).unwrap();
    let kept = history.read(None).unwrap();
    assert_eq!(kept.job(&now).unwrap().editable(), edited.editable());
    assert!(kept.job(&read(&format!("import os\n\n\n{STUB}"))).is_err());
}
