//! `bench`: every combination is measured, reported as JSON or as tables, and wrong input is refused.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::world::{World, keys, model};

fn list<'a>(report: &'a Value, key: &str) -> &'a Vec<Value> {
    report[key].as_array().expect(key)
}

#[test]
fn every_combination_is_run_and_summed_up() {
    let world = World::new();
    let lengths = ["plain", "2", "auto"];
    let args = ["bench", "--batch", "1,2", "--draft-lengths", "plain,2,auto,2", "--repeat", "1", "--max-tokens", "8"];
    let done = world.run(&[&args[..], &["--json"]].concat()).code(0);
    assert_eq!(done.err, "", "no progress line where nobody sees it");
    let report = done.json();
    assert_eq!(
        keys(&report),
        "device draft dtype kernel max_tokens model prompts repeat runs seed summary temperature threads top_p"
    );
    assert_eq!((&report["max_tokens"], &report["repeat"], &report["device"]), (&json!(8), &json!(1), &json!("cpu")));
    let prompts = list(&report, "prompts").len();
    assert_eq!(prompts, 3);

    let runs = list(&report, "runs");
    assert_eq!(
        keys(&runs[0]),
        "accept accepted accepted_lengths batch decode_ms draft_length draft_lengths drafted mean_accepted_length \
         ms_per_token_all ms_per_token_first ms_per_token_last prefill_ms prompt prompt_tokens_reused repeat steps tokens tokens_per_second"
    );
    assert_eq!(runs.len(), 2 * lengths.len() * prompts);
    let mut seen = BTreeSet::new();
    for run in runs {
        let (batch, length) = (run["batch"].as_u64().unwrap(), run["draft_length"].as_str().unwrap());
        assert!(seen.insert((batch, length, run["prompt"].as_u64())), "{run}");
        assert!([1, 2].contains(&batch) && lengths.contains(&length), "{run}");
        assert_eq!((&run["accept"], &run["repeat"], &run["tokens"]), (&json!("coupled"), &json!(0), &json!(batch * 8)));
        assert!(run["decode_ms"].as_f64() > Some(0.0) && run["prefill_ms"].as_f64() > Some(0.0), "{run}");
        match length {
            "plain" => assert_eq!((&run["drafted"], &run["steps"]), (&json!(0), &json!(8))),
            "2" => assert!(run["drafted"].as_u64() >= run["accepted"].as_u64() && run["drafted"] != 0, "{run}"),
            _ => {}
        }
    }

    let summary = list(&report, "summary");
    assert_eq!(
        keys(&summary[0]),
        "accept acceptance accepted batch draft_length draft_lengths drafted mean_accepted_length ms_per_token \
         ms_per_token_all ms_per_token_first ms_per_token_last ms_per_token_max ms_per_token_min prefill_ms \
         ratio_to_best_fixed ratio_to_plain steps tokens_per_second"
    );
    let order: Vec<(u64, &str)> =
        summary.iter().map(|row| (row["batch"].as_u64().unwrap(), row["draft_length"].as_str().unwrap())).collect();
    assert_eq!(order, [(1, "plain"), (1, "2"), (1, "auto"), (2, "plain"), (2, "2"), (2, "auto")]);
    for row in summary.iter().filter(|row| row["draft_length"] == "plain") {
        assert_eq!((&row["ratio_to_plain"], &row["acceptance"]), (&json!(1.0), &Value::Null));
    }
}

#[test]
fn people_get_a_table_for_each_batch_and_rule() {
    let world = World::new();
    let args = ["--batch", "1,3", "--draft-lengths", "plain,bass", "--repeat", "1", "--max-tokens", "4"];
    let more = ["--accept", "rejection,coupled", "--prompt", "Dear Sir", "--temperature", "0.5"];
    let done = world.run(&[&["bench"], &args[..], &more].concat()).code(0);
    for words in ["batch 1, accept rejection, prefill ", "batch 3, accept coupled, prefill ", "1 prompt, 1 repeat"] {
        assert!(done.out.contains(words), "no {words}: {}", done.out);
    }
    assert_eq!(done.out.matches("\nlength ms/tok ").count(), 4, "{}", done.out);
    assert_eq!(done.out.matches("\nbest fixed length: plain\n").count(), 4, "{}", done.out);
    assert!(done.out.lines().all(|line| line.chars().count() <= 100), "{}", done.out);
}

#[test]
fn drafters_are_compared_in_turns() {
    let world = World::new();
    let args =
        ["bench", "--drafters", "none,sibling", "--batch", "2", "--draft-lengths", "plain,3", "--max-tokens", "4"];
    let more = ["--repeat", "1", "--prompt", "def f(a):"];
    let report = world.run(&[&args[..], &more, &["--json"]].concat()).code(0).json();
    assert_eq!(report["drafters"], json!(["none", "sibling"]));
    let of = |run: &Value| (run["drafter"].as_u64().unwrap(), run["draft_length"].as_str().unwrap().to_owned());
    let runs: Vec<_> = list(&report, "runs").iter().map(of).collect();
    let mut sorted = runs.clone();
    sorted.sort();
    assert_eq!(sorted, [(0, "plain"), (1, "3"), (1, "plain")].map(|(at, length)| (at, length.to_owned())));
    let text = world.run(&[&args[..], &more].concat()).code(0).out;
    assert!(text.contains("batch 2, draft none, accept") && text.contains("batch 2, draft sibling, accept"), "{text}");
    world.run(&["bench", "--drafters", "none,auto", "--profile"]).code(2);
    world.run(&["bench", "--drafters", "none,"]).refused(2, &["--drafters has ``"]);
}

#[test]
fn without_a_drafter_only_plain_is_measured() {
    let world = World::new();
    let folder = model("llama");
    let base =
        ["bench", "--model", &folder, "--draft", "none", "--prompt-ids", "1,2", "--repeat", "1", "--max-tokens", "2"];
    let report = world.run(&[&base[..], &["--batch", "2", "--json"]].concat()).code(0).json();
    assert_eq!((&report["draft"], &report["prompts"]), (&json!("none"), &json!([[1, 2]])));
    assert!(list(&report, "runs").iter().all(|run| run["draft_length"] == "plain"));
    world.run(&[&base[..], &["--draft-lengths", "plain", "--batch", "1"]].concat()).code(0);
    let asked = world.run(&[&base[..], &["--draft-lengths", "plain,2"]].concat());
    asked.refused(2, &["--draft-lengths", "no drafter", "only plain is measured"]);
}

#[test]
fn a_profile_is_measured_shown_and_kept() {
    let world = World::new();
    let args = ["bench", "--profile", "--draft", "none"];
    let first = world.run(&args).code(0);
    let text = &first.out;
    assert!(
        text.contains("rows of a pass") && text.contains("best length") && !text.contains("all accepted"),
        "{text}"
    );
    let second = world.run(&[&args[..], &["--json"]].concat()).code(0);
    let report = second.json();
    assert_eq!(keys(&report), "device draft dtype kernel model profile threads");
    assert_eq!(keys(&report["profile"]), "draft main read survival table");
    // Each is kept, or says that other programs disturbed it.
    let [_, _, (_, cache), ..] = world.surroundings();
    let kept = std::fs::read_dir(cache.join("profiles")).map_or(0, Iterator::count);
    let disturbed = [&first, &second].map(|done| done.err.contains("not kept"));
    assert_eq!(kept, usize::from(disturbed != [true, true]), "{}{}", first.err, second.err);
}

#[test]
fn wrong_input_is_refused() {
    let world = World::new();
    let run = |args: &[&str]| world.run(&[&["bench", "--json"], args].concat());
    run(&["--batch", "0"]).refused(2, &["--batch has `0`", "from 1 to 64"]);
    run(&["--batch", "1,65"]).refused(2, &["--batch has `65`", "from 1 to 64"]);
    run(&["--batch", "-1"]).refused(2, &["--batch has `-1`"]);
    run(&["--batch", ""]).refused(2, &["--batch is empty", "1,2,4"]);
    run(&["--batch", "1,,2"]).refused(2, &["--batch has ``"]);
    run(&["--draft-lengths", "plain,many"]).refused(2, &["--draft-lengths has `many`", "plain, bass"]);
    run(&["--draft-lengths", "65"]).refused(2, &["--draft-lengths has `65`", "0 to 64"]);
    run(&["--draft-lengths", " "]).refused(2, &["--draft-lengths is empty"]);
    run(&["--accept", "always"]).refused(2, &["--accept has `always`", "coupled"]);
    run(&["--accept", ""]).refused(2, &["--accept is empty"]);
    run(&["--repeat", "0"]).refused(2, &["--repeat is 0", "1 to 100"]);
    run(&["--repeat", "101"]).refused(2, &["--repeat is 101", "1 to 100"]);
    run(&["--max-tokens", "0"]).refused(2, &["--max-tokens"]);
    run(&["--max-tokens", "9999999"]).refused(2, &["--max-tokens is 9999999", "positions"]);
    run(&["--temperature", "-1"]).refused(2, &["temperature is -1"]);
    run(&["--top-p", "7"]).refused(2, &["top-p"]);
    run(&["--prompt", ""]).refused(2, &["--prompt is empty"]);
    run(&["--prompt-ids", "1,two"]).refused(2, &["two", "1,2,3"]);
    run(&["--prompt-ids", "4000000000"]).refused(2, &["4000000000", "ids from 0 to"]);
    run(&["--prompt-ids", "1", "--prompt", "x"]).refused(2, &["cannot be used with"]);
    run(&["--model", "no-such-model"]).refused(2, &["no-such-model"]);
    run(&["--no-such-flag"]).refused(2, &["--no-such-flag"]);
}
