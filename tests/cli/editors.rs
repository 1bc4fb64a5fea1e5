//! Requests of editors to `serve`: candidates with verdicts as a stream, and the plugins that show them.

use std::process::Command;

use serde_json::{Value, json};

use super::served::Served;
use super::world::{World, candidates, ids, isolated, repository, token_ids};

const EVEN: &str = "LIMIT = 3\n\n\ndef is_even(n):\n    \"\"\"Return True if n is even.\n\n    >>> is_even(2)\n    True\n    >>> is_even(3)\n    False\n    \"\"\"\n    pass\n\n\ndef other():\n    return LIMIT\n";

/// `--allow-trials`, and consent where this machine has no sandbox.
fn trials() -> Vec<&'static str> {
    if isolated() { vec!["--allow-trials"] } else { vec!["--allow-trials", "--unprotected"] }
}

#[test]
fn candidates_with_verdicts_are_what_complete_gives() {
    let world = World::new();
    let served = Served::start(&world, &trials());
    let file = world.file("numbers.py", EVEN);
    let tests =
        world.file("test_numbers.py", "from numbers import is_even\n\n\ndef test_zero():\n    assert is_even(0)\n");
    let same = |of: &Value| {
        let candidate = |c: &Value| {
            let verdict = &c["verdict"];
            [&c["text"], &c["token_ids"], &c["finish"], &c["duplicate_of"], &verdict["status"], &verdict["message"]]
                .map(Clone::clone)
        };
        let all: Vec<_> = candidates(of).iter().map(candidate).collect();
        (all, of["ranking"].clone(), of["picked"].clone(), of["prompt_tokens"].clone(), of["seed"].clone())
    };
    for (named, given) in [
        (vec![], json!(null)),
        (vec!["--tests", "auto"], json!("auto")),
        (vec!["--tests", "none"], json!("none")),
        (vec!["--tests", &tests], json!(tests)),
    ] {
        let args = ["--file", &format!("{file}:is_even"), "-n", "5", "--seed", "4", "--temperature", "0.9"];
        let done = world.run(&[&["complete", "--json"], &args[..], &named].concat());
        let local = done.json();
        let body = json!({ "path": file, "text": EVEN, "target": "is_even", "tests": given, "n": 5, "seed": 4, "temperature": 0.9 });
        let answered = served.post("/v1/candidates", &body);
        assert_eq!(answered.status, 200, "{}", answered.body);
        let mut events = answered.events();
        let result = events.pop().unwrap()["result"].clone();
        assert_eq!(same(&result), same(&local), "{given}");
        // The events say the same.
        let named = |name: &str| -> Vec<Value> { events.iter().filter(|e| e["event"] == name).cloned().collect() };
        assert_eq!((&events[0]["event"], &events[0]["function"]), (&"begin".into(), &"is_even".into()));
        let finished = named("finished");
        assert_eq!(finished.len(), 5);
        for event in finished {
            let candidate = &candidates(&result)[event["index"].as_u64().unwrap() as usize];
            assert_eq!((&event["text"], &event["finish"]), (&candidate["text"], &candidate["finish"]));
            let edit = &event["edit"];
            let at = |end: &str| {
                let lines: usize =
                    EVEN.split_inclusive('\n').take(edit[end]["line"].as_u64().unwrap() as usize).map(str::len).sum();
                lines + edit[end]["byte"].as_u64().unwrap() as usize
            };
            let whole = format!("{}{}{}", &EVEN[..at("start")], edit["text"].as_str().unwrap(), &EVEN[at("end")..]);
            assert!(
                whole.contains(candidate["text"].as_str().unwrap().trim_end()) && whole.ends_with("return LIMIT\n"),
                "{whole}"
            );
            assert!(!whole.contains("    pass\n"), "{whole}");
        }
        let ids_of = |c: u64| -> Vec<u64> {
            named("tokens").iter().filter(|e| e["index"] == c).flat_map(|e| ids(&e["token_ids"])).collect()
        };
        assert_eq!((0..5).map(ids_of).collect::<Vec<_>>(), token_ids(&result));
        for event in named("verdict") {
            let candidate = &candidates(&result)[event["index"].as_u64().unwrap() as usize];
            assert_eq!(event["verdict"]["status"], candidate["verdict"]["status"]);
        }
        assert_eq!(
            named("verdict").len() + named("duplicate").len(),
            if given == "none" { named("duplicate").len() } else { 5 }
        );
        assert_eq!(named("pick").last().map_or(&Value::Null, |e| &e["index"]), &result["picked"]);
    }
    // Tests as text, and the whole answer at once.
    let body = json!({ "language": "python", "text": EVEN, "target": 4, "n": 3, "stream": false, "seed": 4,
                       "tests": { "name": "t.py", "text": "assert is_even(2) is True\nassert is_even(3) is False\n" } });
    let whole = served.post("/v1/candidates", &body).json();
    assert!(
        candidates(&whole).iter().all(|c| c["verdict"]["status"] != "not_run" || !c["duplicate_of"].is_null()),
        "{whole}"
    );
    let prompt = served
        .post("/v1/candidates", &json!({ "prompt": EVEN.split("    pass").next(), "n": 2, "stream": false }))
        .json();
    assert_eq!(candidates(&prompt).len(), 2);
    served.rests();
}

#[test]
fn trials_are_off_unless_they_are_allowed_and_then_no_file_is_read() {
    let world = World::new();
    let served = Served::start(&world, &[]);
    let file = world.file("numbers.py", EVEN);
    world.file("test_numbers.py", "from numbers import is_even\nassert is_even(2)\n");
    let ask = |more: Value| {
        let mut body =
            json!({ "path": file, "text": EVEN, "target": "is_even", "n": 2, "max_tokens": 8, "stream": false });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.post("/v1/candidates", &body)
    };
    for tests in [json!("auto"), json!("/etc/passwd"), json!({ "text": "assert True" })] {
        let answered = ask(json!({ "tests": tests }));
        assert!(answered.status == 403 && answered.body.contains("--allow-trials"), "{}", answered.body);
    }
    for more in [json!({}), json!({ "tests": "none" })] {
        let report = ask(more).json();
        assert!(candidates(&report).iter().all(|c| c["verdict"]["message"] == "no tests"), "{report}");
        assert!(report["picked"].is_u64());
    }
    for (more, words) in [
        (json!({ "text": null }), "either `text`"),
        (json!({ "prompt": "x" }), "either `text`"),
        (json!({ "path": null }), "`path` or `language` is missing"),
        (json!({ "path": "a.xyz" }), "a.xyz"),
        (json!({ "language": "cobol" }), "expected python, javascript"),
        (json!({ "target": "nothing" }), "nothing"),
        (json!({ "target": 0 }), "`target` is 0"),
        (json!({ "text": "" }), "no function"),
        (json!({ "n": 99 }), "`n` is 99"),
        (json!({ "time_budget": "soon" }), "expected a time"),
        (json!({ "tests": 5 }), "`tests` is 5"),
    ] {
        let answered = ask(more);
        assert!(answered.status == 400 && answered.body.contains(words), "no {words:?} in {}", answered.body);
    }
}

#[test]
fn neovim_takes_a_candidate_that_passed() {
    let world = World::new();
    if let Err(why) = Command::new("nvim").arg("--version").output() {
        return super::skip::for_want_of("nvim", why);
    }
    let served = Served::start(&world, &trials());
    let file = world.file("numbers.py", EVEN);
    let script = r##"
        local tui = require("bass-tui")
        tui.setup({ address = ADDRESS, options = { n = 4, seed = 4, temperature = 0.6 } })
        local ask = function()
            vim.cmd("edit! numbers.py")
            vim.api.nvim_win_set_cursor(0, { LINE, 0 })
            vim.cmd("BassTui")
            assert(vim.wait(60000, function() return (tui.is_done()) end, 20), "it takes too long")
            local _, failed = tui.is_done()
            return failed or table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
        end
        local shown = ask()
        -- What was typed meanwhile is not overwritten.
        vim.api.nvim_buf_set_lines(vim.fn.bufnr("numbers.py"), 0, 0, false, { "# typed" })
        vim.cmd([[execute "normal \<CR>"]])
        shown = shown .. "\nTYPED\n" .. table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr("numbers.py"), 0, 3, false), "\n")
        vim.cmd([[normal q]])
        shown = shown .. "\nAGAIN\n" .. ask()
        vim.cmd([[execute "normal \<CR>"]])
        vim.cmd("silent! write")
        vim.fn.writefile(vim.split(shown, "\n"), "shown.txt")
        vim.cmd("qall!")
    "##;
    let run = |address: &str, line: usize| {
        let script = script.replace("ADDRESS", &format!("{address:?}")).replace("LINE", &line.to_string());
        world.file("script.lua", script);
        let nvim = format!("set rtp+={}", repository("editors/nvim"));
        let args = ["60", "nvim", "--headless", "-u", "NONE", "-n", "--cmd", &nvim, "-S", "script.lua"];
        let done = Command::new("timeout")
            .args(args)
            .env("HOME", world.work())
            .current_dir(world.work())
            .output()
            .expect("nvim");
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{said}");
        (std::fs::read_to_string(world.work().join("shown.txt")).unwrap_or_else(|_| panic!("{said}")), said)
    };
    let (shown, said) = run(&served.address, 4);
    assert!(
        shown.contains("A  ") && (!isolated() || shown.contains("> ") && shown.contains("PASS")),
        "{shown}\n{said}"
    );
    assert!(shown.contains("TYPED\n# typed\nLIMIT = 3\n\n") && said.contains("has changed"), "{shown}\n{said}");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with(EVEN.split("    pass\n").next().unwrap()), "{written}");
    assert!(
        written.ends_with("\n\n\ndef other():\n    return LIMIT\n") && !written.contains("    pass\n"),
        "{written}"
    );
    if isolated() {
        world.run(&["test", &format!("{file}:is_even"), "--tests", "auto"]).code(0);
    }
    // A function that ends with the file; and a server that is not there.
    world.file(
        "numbers.py",
        "def is_odd(n):\n    \"\"\"Return True if n is odd.\n\n    >>> is_odd(3)\n    True\n    \"\"\"\n",
    );
    run(&served.address, 1);
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(
        written.contains("    \"\"\"\n    ") && written.ends_with('\n') && !written.ends_with("\n\n"),
        "{written:?}"
    );
    let (shown, _) = run("127.0.0.1:9", 1);
    assert!(shown.contains("nothing answers at 127.0.0.1:9"), "{shown}");
    served.rests();
}
