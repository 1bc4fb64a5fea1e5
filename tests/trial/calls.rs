//! Calls of Python functions on inputs, as candidates are compared by them.

use std::path::Path;
use std::sync::Arc;

use bass_tui::agreement::{FunctionKind, is_same, may_iterate, stated, typed};
use bass_tui::code::{Place, Target};
use bass_tui::language::Language;
use bass_tui::trial::{Earlier, Effect, Input, Limits, Observed, Runner, Status, Tests, Trial};

use super::runner::runner;

fn input(callee: &str, arguments: &str) -> Input {
    Input { callee: callee.to_owned(), arguments: arguments.to_owned(), ..Input::default() }
}

fn trial(program: &str, file: Option<&Path>, name: &str) -> Trial {
    Trial {
        language: Language::Python,
        program: program.to_owned(),
        file: file.map(Path::to_path_buf),
        entry_point: Some(name.to_owned()),
        line: None,
        tests: Tests::own_examples(),
        stub: Some(program.to_owned()),
        limits: Limits::default(),
    }
}

/// Outcomes of the function `f` of a program on these arguments.
fn calls(runner: &Runner, program: &str, arguments: &[&str]) -> Vec<Observed> {
    let inputs: Vec<Input> = arguments.iter().map(|text| input("f", text)).collect();
    let observed = runner.observe(&trial(program, None, "f"), &inputs, &Arc::default()).unwrap();
    assert_eq!(observed.len(), inputs.len());
    observed
}

fn keys(observed: &[Observed]) -> Vec<&str> {
    observed.iter().map(|one| one.outcome().map_or("-", |(_, key)| key)).collect()
}

#[test]
fn what_is_equal_has_one_key() {
    let Some(runner) = runner(Language::Python) else { return };
    let program = "def f(x):\n    return x\n";
    let values = [
        "1", "1.0", "True", "0.1 + 0.2", "0.3", "[1, (2,)]", "{2: 1, 1: 2}", "{1: 2, 2: 1}", "{3, 1}", "None", "set()",
        "{}",
    ];
    let observed = calls(&runner, program, &values);
    let expected =
        ["1", "1", "1", "0.3", "0.3", "[1, (2)]", "{1: 2, 2: 1}", "{1: 2, 2: 1}", "{1, 3}", "None", "set()", "{}"];
    assert_eq!(keys(&observed), expected);
    assert_eq!(observed[3].shown, "0.30000000000000004");
    // Generators, coroutines, objects with fields.
    let program = "import dataclasses\n\n@dataclasses.dataclass\nclass P:\n    x: int\n\nclass Q:\n    def __init__(self, x):\n        self.x = x\n\n\
                   def g(n):\n    yield from range(n)\n\nasync def h(n):\n    return n\n\ndef f(x):\n    return x\n";
    let observed = calls(&runner, program, &["g(3)", "h(2)", "P(1)", "Q(1)", "Q", "f", "map(str, [1])"]);
    let applied = calls(&runner, "def f(x, by=abs):\n    return by(x)\n", &["-1, by=lambda x: x", "-1"]);
    assert_eq!(keys(&applied), ["-1", "1"]);
    assert_eq!(keys(&observed), ["[0, 1, 2]", "2", "P:P(x=1)", "Q:{'x': 1}", "-", "-", "['1']"]);
}

/// Each run has a folder of another name, which no answer may depend on.
#[test]
fn the_folder_of_the_calls_has_one_name() {
    let Some(runner) = runner(Language::Python) else { return };
    let program = "import os, pathlib\n\n\ndef f(x):\n    if x == 'raise':\n        raise ValueError(os.getcwd())\n    \
                   if x == 'print':\n        return print(os.getcwd())\n    \
                   return pathlib.Path(x).resolve() if x == 'p' else os.path.abspath(x)\n";
    let observed = calls(&runner, program, &["'a'", "'p'", "'raise'", "'print'"]);
    assert_eq!(keys(&observed), ["'/run/a'", "PosixPath:PosixPath('/run/p')", "ValueError", "None > /run\n"]);
    assert_eq!((observed[2].shown.as_str(), &observed[0].value), ("ValueError: /run", &None));
}

/// Answers that a person types have the keys and the words of results.
#[test]
fn a_typed_answer_is_the_result_that_it_says() {
    let Some(runner) = runner(Language::Python) else { return };
    let long =
        [format!("'{}'", "é".repeat(300)), format!("[{}]", "7, ".repeat(150)), format!("({})", "\"a\", ".repeat(30))];
    let deep = format!("{}{}", "[".repeat(15), "]".repeat(15));
    let values = [
        "None", "True", "0", "-7", "1_000", "9223372036854775807", "[]", "()", "(1,)", "(1, [2.0, ('a',)])", "{}",
        "set()", "{1}", "{'b', 'a', 'b'}", "{2: 'x', 1.0: {True: None}, 1: 3}", "[[], {}, ()]", "0.1",
        "0.30000000000000004", "1.0", "-0.0", "1e15", "999999999999999.5", "1e16", "123456789012345678.0", "1e22",
        "1.5e300", "1e-5", "0.0001", "0.00012345678912", "2.5e-07", "123456789.125", "1234567890.5",
        "3.14159265358979", "1e999", "'it\\'s'", "'say \"x\"'", "'both \\' and \"'", "'a\\nb\\t\\\\'", "'日本 é ß'",
        "'\u{a0}\u{3000}'", "'\u{1f600}'", "'\u{e000}'",
    ];
    let objects = [
        "Decimal('9.50')",
        "Decimal(-3)",
        "Decimal('0.00001')",
        "Decimal('0.000001')",
        "Fraction(6, -4)",
        "date(2024, 3, 4)",
        "datetime(2024, 3, 4)",
        "datetime(2024, 3, 4, 5, 6, 7, 8)",
        "time(9)",
        "timedelta(hours=25, minutes=-1)",
        "timedelta(0)",
        "Path('a/b.txt')",
        "UUID('12345678123456781234567812345678')",
        "[date(2024, 3, 4), None]",
        "{'total': (Decimal('1.0'), 2)}",
    ];
    let long = long.iter().map(String::as_str).chain([deep.as_str()]);
    let values: Vec<&str> = values.into_iter().chain(objects).chain(long).collect();
    let program = "from datetime import date, datetime, time, timedelta\nfrom decimal import Decimal\n\
        from fractions import Fraction\nfrom pathlib import Path\nfrom uuid import UUID\ndef f(x):\n    return x\n";
    let observed = calls(&runner, program, &values);
    for (value, observed) in values.iter().zip(&observed) {
        let typed = typed(value, Language::Python).unwrap();
        assert_eq!(typed.outcome(), observed.outcome(), "{value}");
        // The order of a set is its own.
        if !observed.key.starts_with("{'") {
            assert_eq!(typed.value, observed.value.clone().filter(|_| typed.value.is_some()), "{value}");
        }
    }
    let sorted = calls(&runner, "def f(x):\n    x.sort()\n", &["[2, 1]", "3"]);
    for (text, observed) in ["None, and argument 1 is [1, 2]", "raises AttributeError"].iter().zip(&sorted) {
        assert_eq!(typed(text, Language::Python).unwrap().outcome(), observed.outcome(), "{text}");
    }
}

/// The example of an answer passes with each candidate that gives it.
#[test]
fn an_answer_is_an_example_that_all_pass_who_give_it() {
    let Some(runner) = runner(Language::Python) else { return };
    let cases: [(&str, &[&str]); 14] = [
        (
            "def f(n):",
            &[
                "    for x in range(n):\n        yield x\n",
                "    return (x for x in range(n))\n",
                "    return list(range(n))\n",
            ],
        ),
        ("async def f(n):", &["    return n + 1\n", "    return 1 + n\n"]),
        ("def f(n):", &["    return n * 0.1 + n * 0.2 - n * 0.2\n", "    return n * 0.1\n"]),
        ("def f(n):", &["    return 0.1 + 0.2\n", "    return 0.3\n"]),
        ("def f(n):", &["    return set('hello')\n", "    return frozenset('hello')\n"]),
        ("def f(n):", &["    return {'a': 1, 'b': 2}\n", "    return {'b': 2, 'a': 1}\n"]),
        (
            "def f(n):",
            &["    from collections import Counter\n    return Counter('aab')\n", "    return {'a': 2, 'b': 1}\n"],
        ),
        ("def f(n):", &["    print('a')\n    print()\n    print('b')\n", "    print('a\\n\\nb')\n"]),
        ("def f(n):", &["    raise ValueError('a')\n", "    raise ValueError('b')\n"]),
        ("def f(n):", &["    return {}['a']\n"]),
        ("def f(n):", &["    return None\n"]),
        ("def f(n):", &["    return 'a\\\\b\\n'\n", "    return \"a\\\\b\\n\"\n"]),
        ("def f(n):", &["    return ''\n"]),
        ("def f(n):", &["    yield 1\n    raise KeyError(n)\n"]),
    ];
    for (head, bodies) in cases {
        let program = |body: &str, doc: &str| format!("{head}\n{doc}{body}");
        let observed: Vec<Observed> =
            bodies.iter().map(|body| calls(&runner, &program(body, ""), &["3"])[0].clone()).collect();
        assert!(observed.iter().all(|one| one.outcome() == observed[0].outcome()), "{observed:?}");
        let kind = FunctionKind {
            is_async: head.starts_with("async"),
            iterates: bodies.iter().any(|body| may_iterate(head, body)),
        };
        let example = stated("f(3)", &observed[0], &observed.iter().collect::<Vec<_>>(), kind).unwrap();
        let target = Target::in_text(&program("    pass\n", ""), Language::Python, &Place::Any).unwrap();
        let stub = target.stub_with_example(&example.statements, &example.printed).unwrap();
        for body in bodies {
            let mut trial = trial(&format!("{stub}{body}"), None, "f");
            trial.stub = Some(stub.clone());
            let verdict = runner.run(&trial, &Arc::default()).unwrap();
            assert_eq!(verdict.status, Status::Passed, "{stub}{body}: {}", verdict.message);
        }
    }
}

#[test]
fn changes_errors_and_prints_count() {
    let Some(runner) = runner(Language::Python) else { return };
    let sorts = calls(&runner, "def f(x):\n    x.sort()\n    return x[0]\n", &["[2, 1]", "[1, 2]", "3"]);
    assert_eq!(keys(&sorts), ["1 | 0: [1, 2]", "1", "AttributeError"]);
    assert_eq!(sorts[0].shown, "1, and argument 1 is [1, 2]");
    assert_eq!(
        (sorts[2].effect, sorts[0].value.as_deref(), sorts[1].value.as_deref()),
        (Effect::Raised, None, Some("1"))
    );
    let prints = calls(&runner, "def f(x):\n    print(x)\n", &["1", "2"]);
    assert!(prints[0].outcome().is_some() && prints[0].outcome() != prints[1].outcome(), "{prints:?}");
    // A result that is stated.
    let stated = |result: &str| Input { result: Some(result.to_owned()), ..input("f", "[2, 1]") };
    let program = trial("def f(x):\n    x.sort()\n    return x[0]\n", None, "f");
    let observed = runner.observe(&program, &[stated("1"), stated("2")], &Arc::default()).unwrap();
    assert_eq!(observed.iter().map(|one| one.is_right).collect::<Vec<_>>(), [Some(true), Some(false)]);
    // A method, whose object changes.
    let program =
        "class A:\n    def __init__(self):\n        self.all = []\n\n    def f(self, x):\n        self.all.append(x)\n";
    let observed = runner.observe(&trial(program, None, "A.f"), &[input("A().f", "1")], &Arc::default()).unwrap();
    assert!(observed[0].shown.contains("and the object is"), "{observed:?}");
    // Code that cannot be loaded says so everywhere.
    let broken = calls(&runner, "def f(x:\n    return x\n", &["1", "2"]);
    assert!(
        broken.iter().all(|one| one.effect == Effect::Unloaded && one.shown.starts_with("SyntaxError")),
        "{broken:?}"
    );
}

#[test]
fn what_an_object_holds_is_compared_and_shown() {
    let Some(runner) = runner(Language::Python) else { return };
    let stack = |body: &str| {
        format!(
            "class Stack:\n    __slots__ = 'all'\n\n    def __init__(self, all=()):\n        self.all = list(all)\n\n    \
             @property\n    def size(self):\n        return len(self.all)\n\n    def put(self, x):\n        {body}\n"
        )
    };
    let told = |body: &str| {
        let after = Input {
            earlier: vec![Earlier { method: "put".to_owned(), arguments: "1".to_owned() }],
            ..input("Stack().put", "2")
        };
        let read = Input { is_read: true, ..input("Stack([4, 4]).size", "") };
        let inputs = [input("Stack().put", "1"), after, read];
        runner.observe(&trial(&stack(body), None, "Stack.put"), &inputs, &Arc::default()).unwrap()
    };
    let (last, first) = (told("self.all.append(x)"), told("self.all.insert(0, x)"));
    assert_eq!(last[0].shown, "None, and the object is Stack(all=[1])");
    assert_eq!(last[0].outcome(), first[0].outcome(), "one element has no order");
    assert_eq!(last[1].shown, "None, and the object is Stack(all=[1, 2])");
    assert_ne!(last[1].outcome(), first[1].outcome());
    assert_eq!((last[2].key.as_str(), last[2].effect), ("2", Effect::Returned));
}

#[test]
fn values_that_are_awaited_are_told_and_given() {
    let Some(runner) = runner(Language::Python) else { return };
    let yields = "import asyncio\n\nasync def f(n):\n    while n > 0:\n        await asyncio.sleep(1)\n        yield n\n        n -= 1\n";
    let observed = calls(&runner, yields, &["2", "0"]);
    assert_eq!(observed.iter().map(|one| one.shown.as_str()).collect::<Vec<_>>(), ["[2, 1], and sleeps 1, 1", "[]"]);
    let retry = "async def f(action, times=2):\n    for left in range(times)[::-1]:\n        try:\n            return await action()\n        \
                 except ArithmeticError:\n            if not left:\n                raise\n";
    let actions =
        ["an_async(lambda: 5)", "an_async(lambda *_: 1 / 0)", "an_async(lambda *_, all=[2, 0]: 6 // all.pop())"];
    assert_eq!(keys(&calls(&runner, retry, &actions)), ["5", "ZeroDivisionError", "3"]);
    let reads = "async def f(lines):\n    return [line async for line in lines]\n";
    assert_eq!(keys(&calls(&runner, reads, &["an_async_iterator([1, 2])", "[1, 2]"])), ["[1, 2]", "TypeError"]);
    assert_eq!(keys(&calls(&runner, "async def f(one):\n    return await one\n", &["a_coroutine(3)"])), ["3"]);
}

#[test]
fn calls_of_what_is_given_and_sleep_are_seen_where_they_are_what_it_does() {
    let Some(runner) = runner(Language::Python) else { return };
    let each = |body: &str| {
        let program = format!("import time, asyncio\nfrom time import sleep\n\ndef f(xs, by):\n{body}");
        calls(&runner, &program, &["[1, 2], lambda x: x", "[1, 2], a_callback()"])
    };
    let loops = each("    for x in xs:\n        by(x)\n");
    let backwards = each("    for x in xs[::-1]:\n        by(x)\n");
    assert_eq!(loops[0].shown, "None, and calls what it is given with [1], [2]");
    assert_ne!(loops[0].outcome(), backwards[0].outcome());
    // Equal results can take other calls. A callback is called for what it does.
    let (one, two) = (each("    return by(xs[0])\n"), each("    by(xs[0])\n    return by(xs[0])\n"));
    assert_eq!(one[0].outcome(), two[0].outcome());
    assert_ne!(one[1].outcome(), two[1].outcome());
    let begun = std::time::Instant::now();
    let sleeps =
        each("    end = time.monotonic() + 60\n    while time.monotonic() < end:\n        sleep(25)\n    return 1\n");
    assert_eq!(sleeps[0].shown, "1, and sleeps 25, 25, 25");
    let waits = "import asyncio\n\nasync def f(n):\n    await asyncio.sleep(n)\n    return n\n";
    assert_eq!(keys(&calls(&runner, waits, &["600"])), ["600 | sleeps: 600"]);
    assert!(begun.elapsed().as_secs() < 60);
    let typed = typed("1", Language::Python).unwrap();
    assert!(is_same(&typed, &sleeps[0]) && !is_same(&sleeps[0], &typed), "an answer need not say it");
}

#[test]
fn functions_for_with_are_entered_and_left() {
    let Some(runner) = runner(Language::Python) else { return };
    let head = "import os\nfrom contextlib import contextmanager\n\n@contextmanager\ndef f(**values):\n";
    let of = |body: &str| calls(&runner, &format!("{head}{body}"), &["A='1'"])[0].clone();
    let good =
        of("    os.environ.update(values)\n    try:\n        yield 3\n    finally:\n        del os.environ['A']\n");
    assert_eq!(good.outcome().unwrap().1, "3 & A is '1'");
    let left = of("    os.environ.update(values)\n    yield 3\n");
    assert_eq!(left.outcome().unwrap().1, "3 & A is '1' | environment: A is '1'");
    assert!(!left.is_unsteady, "each call finds the environment as it was");
    assert_eq!(of("    print(1)\n    yield\n    print(2)\n").shown, "prints '1\\n2\\n'");
    assert_eq!(of("    yield\n    raise KeyError(1)\n").key, "KeyError");
}

/// Times that an object keeps are the same in each call. Those of one input lie apart.
#[test]
fn clocks_begin_at_one_moment_in_each_call() {
    let Some(runner) = runner(Language::Python) else { return };
    let program = "import time, os, threading\n\nclass A:\n    def __init__(self):\n        self.made, self.all = time.monotonic(), []\n\n    def f(self, n):\n        self.all.append(time.time())\n        time.sleep(n)\n        return time.monotonic() - self.made\n\ndef g(n):\n    begun = time.perf_counter()\n    while time.perf_counter() - begun < n:\n        pass\n    return 1\n\ndef h(path):\n    return time.time() - os.path.getmtime(path)\n\ndef k(n):\n    one = threading.Condition()\n    with one:\n        return one.wait_for(lambda: False, n)\n";
    let earlier = vec![Earlier { method: "f".to_owned(), arguments: "1".to_owned() }];
    let inputs = [
        input("A().f", "2"),
        Input { earlier, ..input("A().f", "2") },
        input("g", "3"),
        input("h", "a_file('a.txt', 'a')"),
        input("k", "0.01"),
    ];
    let observed = runner.observe(&trial(program, None, "A.f"), &inputs, &Arc::default()).unwrap();
    let results: Vec<&str> = keys(&observed).iter().map(|key| key.split(" | ").next().unwrap()).collect();
    assert_eq!(results, ["2", "3.75", "1", "0", "0"], "{observed:?}");
}

#[test]
fn an_object_that_nobody_knows_says_what_was_asked_of_it() {
    let Some(runner) = runner(Language::Python) else { return };
    let with = |body: &str| {
        let observed = calls(&runner, &format!("def f(client, id):\n{body}"), &["a_stub(\"client\"), 7"]);
        observed[0].shown.clone()
    };
    let get = "    reply = client.get(f\"/users/{id}\", timeout=5)\n    reply.raise_for_status()\n    return reply.json()[\"name\"]\n";
    let called = "client.get('/users/7', timeout=5), client.get('/users/7', timeout=5).raise_for_status()";
    let expected =
        format!("client.get('/users/7', timeout=5).json()['name'], and calls what it is given with {called}, ");
    assert!(with(get).starts_with(&expected[..150]), "{}", with(get));
    assert!(
        with("    while client.next():\n        pass\n    return [one.id for one in client.all()]\n").starts_with("[]")
    );
    let nothing = calls(&runner, "def f(client):\n    return client.get(1)\n", &["a_stub(\"client\", 0)"]);
    assert_eq!(nothing[0].key, "None | calls what it is given with: client.get(1)");
    let loops = with("    with client.open() as file:\n        return sorted(file, key=lambda one: one.id + 1 > 2)\n");
    assert!(loops.contains("client.open()[0]"), "{loops}");
    let awaits = "import asyncio\n\nasync def f(client, id):\n    async with client.get(id) as reply:\n        return await reply.text()\n";
    assert!(calls(&runner, awaits, &["a_stub(\"client\"), 7"])[0].key.starts_with("client.get(7).text()"));
}

#[test]
fn functions_that_are_returned_are_called() {
    let Some(runner) = runner(Language::Python) else { return };
    let program = "def f(start):\n    if start < 0:\n        raise ValueError\n    n = [start]\n    def g(by):\n        n[0] += by\n        return n[0]\n    return g\n";
    let after =
        Input { earlier: vec![Earlier { method: String::new(), arguments: "2".to_owned() }], ..input("f(1)", "3") };
    assert_eq!(after.text(), "f(1)(2), then (3)");
    let inputs = [input("f(1)", "3"), after, input("f", "-1")];
    let observed = runner.observe(&trial(program, None, "f"), &inputs, &Arc::default()).unwrap();
    assert_eq!(keys(&observed), ["4", "6", "ValueError"]);
    let endless = "def f(n):\n    while n:\n        pass\n    return lambda x: x\n";
    let observed =
        runner.observe(&trial(endless, None, "f"), &[input("f(1)", "2"), input("f(0)", "2")], &Arc::default());
    let effects: Vec<_> = observed.unwrap().iter().map(|one| one.effect).collect();
    assert_eq!(effects, [Effect::Late, Effect::Returned]);
}

#[test]
fn a_number_may_have_thousands_of_digits() {
    let Some(runner) = runner(Language::Python) else { return };
    let large = calls(&runner, "def f(n):\n    return 10 ** n\n", &["5000", "5001"]);
    assert!(large.iter().all(|one| one.effect == Effect::Returned) && large[0].key != large[1].key, "{large:?}");
}

#[test]
fn what_differs_from_itself_agrees_with_nothing() {
    let Some(runner) = runner(Language::Python) else { return };
    let program = "import os, random\n\ndef f(x, seen=[]):\n    seen.append(x)\n    \
                   return {1: random.random, 2: lambda: os.urandom(8), 3: lambda: len(seen), 4: lambda: 4}[x]()\n";
    let observed = calls(&runner, program, &["1", "2", "3", "4"]);
    assert_eq!(keys(&observed), ["-", "-", "-", "4"]);
    assert!(observed[0].is_unsteady && !observed[3].is_unsteady);
}

#[test]
fn code_that_means_harm_costs_only_its_own_calls() {
    let Some(runner) = runner(Language::Python) else { return };
    let bodies = [
        ("while True: pass", "-"),
        (
            "\n        try:\n            while True: pass\n        except BaseException:\n            pass\n        while True: pass",
            "-",
        ),
        ("import threading; threading.Event().wait(60)", "-"),
        ("import os; os._exit(0)", "-"),
        ("import os; os.abort()", "-"),
        ("import sys; sys.exit(3)", "SystemExit"),
        ("b'x' * (1 << 34)", "MemoryError"),
        ("f(x)", "RecursionError"),
    ];
    for (body, expected) in bodies {
        let program = format!("def f(x):\n    if x == 1:\n        {body}\n    return x\n");
        let observed = calls(&runner, &program, &["0", "1", "2"]);
        let told = keys(&observed);
        assert_eq!((told[0], told[2]), ("0", "2"), "{body}: {observed:?}");
        assert!(told[1] == expected || told[1] == "-", "{body}: {observed:?}");
    }
    // Programs that flood, fork, replace parts of the language or write reports of their own.
    let programs = [
        "import sys\n\ndef f(x):\n    while True: sys.stderr.write('x' * 4096)\n",
        "import os\n\ndef f(x):\n    while True: os.fork()\n",
        "import builtins\nbuiltins.repr = builtins.len = builtins.isinstance = None\n\ndef f(x):\n    return x\n",
        "import os, sys\n\ndef f(x):\n    for fd in range(3, 32):\n        try:\n            os.write(fd, b'{\"at\": 0, \"effect\": \"returned\", \"key\": \"9\", \"shown\": \"9\", \"right\": true}\\n' * 100)\n        except OSError:\n            pass\n    os._exit(0)\n",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n\ndef f(x):\n    return x\n",
        "class E:\n    def __repr__(self):\n        return '\\x1b[2J' * 10000\n    def __eq__(self, other):\n        return True\n\ndef f(x):\n    return E()\n",
    ];
    for program in programs {
        let observed = calls(&runner, program, &["0", "1"]);
        assert!(observed.iter().all(|one| !one.shown.contains('\u{1b}') && one.shown.len() < 1000), "{program}");
    }
    // And the next is called as if nothing had been.
    assert_eq!(keys(&calls(&runner, "def f(x):\n    return x\n", &["1"])), ["1"]);
}

#[test]
fn a_file_of_a_project_is_loaded_as_its_module() {
    let Some(runner) = runner(Language::Python) else { return };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir_all(root.join("src/shop/core")).unwrap();
    for (path, text) in [
        ("pyproject.toml", "[project]\nname = \"shop\"\nversion = \"1\"\n"),
        ("src/shop/__init__.py", ""),
        ("src/shop/core/__init__.py", ""),
        ("src/shop/tax.py", "RATE = 2\n"),
        ("src/shop/core/price.py", "from ..tax import RATE\n\n\ndef f(x):\n    pass\n"),
    ] {
        std::fs::write(root.join(path), text).unwrap();
    }
    let file = root.join("src/shop/core/price.py");
    let program = "from ..tax import RATE\n\n\ndef f(x):\n    open('made', 'w').close()\n    return x * RATE\n";
    let observed = runner.observe(&trial(program, Some(&file), "f"), &[input("f", "3")], &Arc::default()).unwrap();
    assert_eq!(keys(&observed), ["6 | made: ''"]);
    assert!(!root.join("made").exists() && !root.join("src/made").exists(), "the user's files are as they were");
}

const READS: &str = "a_file(\"one.csv\", \"a,b\\n1,2\\n\")";
const FOLDER: &str = "a_folder(\"one\", {\"a.txt\": \"x\", \"c/d.txt\": \"y\"})";

#[test]
fn files_are_made_for_a_call_and_those_that_it_writes_are_compared() {
    let Some(runner) = runner(Language::Python) else { return };
    let program = "import os\n\ndef f(path, text=None):\n    if text is None:\n        if os.path.isdir(path):\n            return sorted(os.listdir(path))\n        \
                   with open(path) as lines:\n            return lines.readlines()\n    if text == '':\n        os.remove(path)\n        return None\n    \
                   with open(path, 'w') as out:\n        out.write(text)\n";
    let write = format!("{READS}, \"new\"");
    let remove = format!("{READS}, \"\"");
    let calls_of = [READS, FOLDER, "\"one.csv\"", &write, &remove, "\"out.txt\", \"x\"", "\"out.txt\""];
    let observed = calls(&runner, program, &calls_of);
    let expected = [
        "['a,b\\n', '1,2\\n']", "['a.txt', 'c']", "FileNotFoundError", "None | one.csv: 'new'", "None | one.csv: None",
        "None | out.txt: 'x'", "FileNotFoundError",
    ];
    assert_eq!(keys(&observed), expected, "no call sees the files of another");
    assert_eq!(observed[3].shown, "None, and one.csv holds 'new'");
    assert_eq!(observed[4].shown, "None, and removes one.csv");
    assert!(observed[5].value.is_none() && observed[0].value.is_some() && !observed.iter().any(|one| one.is_unsteady));
    assert!(input("f", READS).is_no_code().is_some());
}
