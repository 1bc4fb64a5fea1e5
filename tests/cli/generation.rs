//! `complete`: the JSON object, seeds, speculation, ends.

use serde_json::{Value, json};

use super::terminal::written;
use super::world::{World, candidates, ids, is_even, keys, token_ids};

#[test]
fn the_object_is_the_one_of_the_contract() {
    let report = World::new().complete(&["--file", &is_even(), "-n", "8", "--agree", "off"]);
    assert_eq!(keys(&report), "candidates device draft dtype model picked prompt_tokens ranking seed stats");
    assert_eq!(
        keys(&report["stats"]),
        "accepted accepted_lengths decode_ms draft_lengths drafted mean_accepted_length ms_per_token_all ms_per_token_first ms_per_token_last prefill_ms prompt_tokens_reused steps tokens tokens_per_second"
    );
    assert_eq!((&report["device"], &report["seed"]), (&json!("cpu"), &json!(0)));
    let all = candidates(&report);
    assert_eq!(all.len(), 8);
    let mut tokens = 0;
    for (i, c) in all.iter().enumerate() {
        assert_eq!(keys(c), "duplicate_of finish index logprobs mean_logprob text token_ids verdict");
        assert_eq!(keys(&c["verdict"]), "assurance duration_ms interpreter message output status waited_ms");
        assert_eq!(c["index"], i);
        assert!(["stop", "length"].contains(&c["finish"].as_str().unwrap()), "{c}");
        let logprobs: Vec<f64> = c["logprobs"].as_array().unwrap().iter().map(|l| l.as_f64().unwrap()).collect();
        assert_eq!(ids(&c["token_ids"]).len(), logprobs.len());
        assert!(!logprobs.is_empty() && logprobs.iter().all(|&l| l <= 0.0));
        let mean = logprobs.iter().sum::<f64>() / logprobs.len() as f64;
        assert!((mean - mean_of(&report, i)).abs() < 1e-5, "{c}");
        if let Some(first) = c["duplicate_of"].as_u64() {
            assert!((first as usize) < i);
            assert_eq!(c["verdict"]["status"], all[first as usize]["verdict"]["status"], "one program, one verdict");
        }
        tokens += logprobs.len();
    }
    assert_eq!(report["stats"]["tokens"], tokens);
    let ranking: Vec<usize> = ids(&report["ranking"]).into_iter().map(|c| c as usize).collect();
    let mut sorted = ranking.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..8).collect::<Vec<_>>());
    assert!(ranking.windows(2).all(|w| mean_of(&report, w[0]) >= mean_of(&report, w[1])), "{ranking:?}");
    let passed = |&c: &usize| all[c]["verdict"]["status"] == "passed";
    assert_eq!(report["picked"], json!(ranking.into_iter().find(passed).expect("one passes")));
}

fn mean_of(report: &Value, candidate: usize) -> f64 {
    report["candidates"][candidate]["mean_logprob"].as_f64().unwrap()
}

/// All but what the clock says.
fn timeless(mut report: Value) -> Value {
    let stats = report["stats"].as_object_mut().unwrap();
    stats.retain(|key, _| !key.contains("ms") && !key.contains("second"));
    for c in report["candidates"].as_array_mut().unwrap() {
        c["verdict"]["duration_ms"] = Value::Null;
        c["verdict"]["waited_ms"] = Value::Null;
    }
    report
}

#[test]
fn weights_of_a_few_bits_write_programs_too() {
    let world = World::new();
    // A fixed length of drafts, as lengths that follow the clock show in the statistics.
    let args = ["--file", &is_even(), "-n", "3", "--draft-length", "2"];
    for dtype in ["int8", "int4"] {
        let report = world.complete(&[&args[..], &["--dtype", dtype]].concat());
        assert_eq!(report["dtype"], dtype);
        assert!(candidates(&report).iter().any(|c| c["verdict"]["status"] == "passed"), "{report}");
        world.config(&format!("dtype = '{dtype}'\n"));
        assert_eq!(timeless(world.complete(&args)), timeless(report), "by the config file");
        world.config("");
    }
}

#[test]
fn a_coarser_draft_model_changes_no_text() {
    let world = World::new();
    let args = ["--file", &is_even(), "-n", "3", "--tests", "none", "--temperature", "2"];
    let run = |draft: &[&str]| world.complete(&[&args[..], draft].concat());
    let (plain, coarse) = (run(&["--draft", "none"]), run(&["--draft-dtype", "int4", "--draft-length", "3"]));
    assert_eq!(token_ids(&plain), token_ids(&coarse));
    assert_eq!(coarse["dtype"], "bf16", "of the main model");
    let as_it_is = run(&["--draft-length", "3"]);
    assert_ne!(as_it_is["stats"]["accepted"], coarse["stats"]["accepted"], "it drafts otherwise");
}

#[test]
fn a_seed_decides_everything() {
    let world = World::new();
    let run = |seed, length| {
        // At lower temperatures the built-in model is so sure of this function that two seeds may well agree.
        let args = ["--file", &is_even(), "-n", "4", "--seed", seed, "--draft-length", length, "--temperature", "2"];
        world.complete(&[&args[..], &["--tests", "none"]].concat())
    };
    let (first, again, other) = (run("7", "2"), run("7", "2"), run("8", "2"));
    assert_ne!(token_ids(&first), token_ids(&other));
    // Draft lengths by measured time change the number of steps from run to run, but nothing of the
    // candidates.
    let by_time = run("7", "auto");
    assert_eq!(timeless(first.clone())["candidates"], timeless(by_time)["candidates"]);
    assert_eq!(timeless(first), timeless(again));
}

#[test]
fn greedy_output_does_not_depend_on_speculation() {
    let world = World::new();
    let run = |options: &[&str]| {
        let base = ["--file", &is_even(), "-n", "2", "--temperature", "0", "--tests", "none"];
        world.complete(&[&base, options].concat())
    };
    let plain = run(&["--draft", "none"]);
    assert_eq!((&plain["draft"], &plain["stats"]["drafted"]), (&json!("none"), &json!(0)));
    assert_eq!(plain["candidates"][1]["duplicate_of"], 0);
    let bass = run(&["--draft-length", "bass"]);
    assert!(bass["stats"]["accepted"].as_u64() > Some(0));
    for other in [bass, run(&["--draft-length", "3"]), run(&["--draft-length", "0"]), run(&["--accept", "coupled"])] {
        assert_eq!(token_ids(&plain), token_ids(&other));
        let logprobs = |report: &Value| candidates(report)[0]["logprobs"].clone();
        assert_eq!(logprobs(&plain), logprobs(&other));
    }
}

#[test]
fn coupled_output_does_not_depend_on_the_drafts() {
    let world = World::new();
    let run = |draft| {
        let args = ["--file", &is_even(), "-n", "3", "--accept", "coupled", "--draft", draft, "--tests", "none"];
        token_ids(&world.complete(&args))
    };
    assert_eq!(run("none"), run("auto"));
}

#[test]
fn a_candidate_does_not_depend_on_how_many_there_are() {
    let world = World::new();
    let run = |n, draft| {
        let args = ["--file", &is_even(), "-n", n, "--draft", draft, "--draft-length", "4", "--tests", "none"];
        token_ids(&world.complete(&args))
    };
    for draft in ["none", "auto"] {
        assert_eq!(run("1", draft)[0], run("5", draft)[0], "draft {draft}");
    }
}

#[test]
fn one_and_sixty_four() {
    let world = World::new();
    for n in ["1", "64"] {
        let report = world.complete(&["Dear Sir", "-n", n, "--max-tokens", "3"]);
        assert_eq!(candidates(&report).len().to_string(), n);
        assert!(candidates(&report).iter().all(|c| ids(&c["token_ids"]).len() <= 3));
        assert!(candidates(&report).iter().any(|c| c["finish"] == "length"));
        assert!(report["picked"].is_u64(), "without tests the best is taken");
    }
}

#[test]
fn more_tokens_than_there_is_room_for_is_no_error() {
    let most = u64::MAX.to_string();
    World::new().complete(&["--file", &is_even(), "-n", "1", "--tests", "none", "--max-tokens", &most]);
}

#[test]
fn stop_texts_end_a_candidate_and_are_not_part_of_it() {
    let world = World::new();
    let base = ["--file", &is_even(), "-n", "1", "--temperature", "0", "--tests", "none"];
    assert!(candidates(&world.complete(&base))[0]["text"].as_str().unwrap().contains("return"));
    let stops = ["--stop", "turn", "--stop", "never seen", "--agree", "off"];
    let report = world.complete(&[&base[..], &stops].concat());
    let c = &candidates(&report)[0];
    assert_eq!((&c["text"], &c["finish"]), (&json!("    re"), &json!("stop")));
}

#[test]
fn a_function_ends_unless_told_otherwise() {
    let world = World::new();
    let base = ["def add(a, b):\n", "-n", "2", "--max-tokens", "120", "--tests", "none"];
    let ended = world.complete(&base);
    assert!(candidates(&ended).iter().all(|c| !c["text"].as_str().unwrap().contains("\ndef ")));
    world.complete(&[&base[..], &["--no-default-stops"]].concat());
}

#[test]
fn what_the_time_budget_cuts_does_not_count() {
    let world = World::new();
    let args =
        ["complete", "--json", "Dear Sir", "-n", "2", "--max-tokens", "800", "--time-budget", "1ms", "--seed", "3"];
    let report = world.run(&args).code(1).json();
    assert!(candidates(&report).iter().all(|c| c["finish"] == "budget"), "{report}");
    assert!(report["picked"].is_null());
    // Output for people: nothing is printed as the answer.
    let done = world.run(&[&args[..1], &args[2..]].concat()).code(1);
    assert_eq!(done.out, "");
    assert!(done.err.contains("cut by the time budget"), "{}", done.err);
}

#[test]
fn settings_come_from_the_file_and_flags_win() {
    let world = World::new();
    world.config("n = 3\nmax_tokens = 2\nseed = 5\ndraft = 'none'\n");
    let report = world.complete(&["Dear Sir"]);
    assert_eq!((candidates(&report).len(), &report["seed"], &report["draft"]), (3, &json!(5), &json!("none")));
    let report = world.complete(&["Dear Sir", "-n", "1", "--seed", "0", "--draft", "auto"]);
    assert_eq!((candidates(&report).len(), &report["seed"]), (1, &json!(0)));
    assert_ne!(report["draft"], "none");
}

#[test]
fn people_get_the_code_on_stdout_and_the_rest_on_stderr() {
    let world = World::new();
    let done = world.run(&["complete", "--file", &is_even(), "-n", "3"]).code(0);
    assert!(done.out.starts_with("def is_even(n):\n") && done.out.contains("    return "), "{}", done.out);
    assert!(done.err.contains("> ") && done.err.contains("PASS") && done.err.contains("tokens/s"), "{}", done.err);
    assert!(!done.err.contains('\r') && !done.err.contains('\u{1b}'), "no progress line where nobody sees it");
    let done =
        world.run(&["complete", "--file", &is_even(), "-n", "3", "--tests", "none", "--temperature", "0"]).code(0);
    assert!(done.out.contains("    return "), "without tests the best ranked is printed");
    assert!(done.err.contains("same as A") && !done.err.contains("NOT RUN"), "{}", done.err);
}

#[test]
fn a_terminal_shows_progress_and_is_left_clean() {
    let (code, text) = written(&World::new(), &["complete", "Dear Sir", "-n", "4", "--max-tokens", "40"]);
    assert_eq!(code, 0);
    assert!(text.contains("\r\u{1b}[Kprompt: "), "{text:?}");
    let size = |n| std::num::NonZero::new(n).unwrap();
    let mut screen = vt100::Parser::new(size(30), size(120), 0);
    screen.process(text.as_bytes());
    let text = screen.screen().contents();
    assert!(!text.contains("prompt: ") && !text.contains("candidates done"), "{text}");
    assert!(text.contains("tokens/s"), "{text}");
}

/// A function of two lines, and bodies of which most are wrong.
#[test]
fn where_all_fail_a_second_round_is_written_beside_the_first() {
    let world = World::new();
    let text = "def last(items):\n    \"\"\"The last.\n\n    >>> last([1, 2])\n    2\n    \"\"\"\n    pass\n";
    let file = world.file("a.py", text) + ":last";
    let server = super::server::Server::good(super::server::Model::new(&["    return 0\n", "    return items\n"]));
    let args = ["complete", "--json", "--file", &file, "-n", "2", "--server", &server.address];
    let report = world.run(&args).code(1).json();
    let rounds: Vec<_> = report["candidates"].as_array().unwrap().iter().map(|c| c["round"].as_u64()).collect();
    assert_eq!(rounds, [None, None, Some(2), Some(2)], "{report}");
    assert!(report["candidates"][3]["duplicate_of"].is_u64(), "{report}");
    let report = world.run(&[&args[..], &["--rounds", "1"]].concat()).code(1).json();
    assert_eq!(report["candidates"].as_array().unwrap().len(), 2);
    // A person reads of it.
    let said = world.run(&[&["complete"], &args[2..]].concat()).code(1);
    assert!(said.err.contains("\n  D "), "{}", said.err);
}

#[test]
fn without_tests_most_that_do_the_same_are_picked() {
    if !super::world::isolated() {
        return super::skip::as_it_cannot("isolation", "nothing is called without it");
    }
    let world = World::new();
    let file = world.file("a.py", "def last(items):\n    \"\"\"The last of the items.\"\"\"\n    pass\n") + ":last";
    let texts = ["    return items[0]\n", "    return items[-1]\n", "    return items[len(items) - 1]\n"];
    let server = super::server::Server::good(super::server::Model::new(&texts));
    let args = ["complete", "--json", "--file", &file, "--tests", "none", "-n", "3", "--server", &server.address];
    let report = world.run(&args).code(0).json();
    assert_eq!(report["agreement"]["groups"], json!([[1, 2], [0]]), "{report}");
    assert_eq!((&report["ranking"], &report["picked"]), (&json!([1, 2, 0]), &json!(1)));
    let call = &report["agreement"]["differs"][0]["call"];
    assert!(call.as_str().unwrap().starts_with("last(["), "{call}");
    let report = world.run(&[&args[..], &["--agree", "off"]].concat()).code(0).json();
    assert_eq!((report.get("agreement"), &report["picked"]), (None, &json!(0)));
}
