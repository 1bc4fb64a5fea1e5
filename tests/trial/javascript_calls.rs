//! Calls of JavaScript and TypeScript functions on inputs: what each call does, whatever the code does beside
//! that.

use std::path::Path;
use std::sync::Arc;

use bass_tui::agreement::{Texts, Witness, inputs, tally, typed};
use bass_tui::code::{Place as Spot, Target};
use bass_tui::language::Language;
use bass_tui::trial::{Earlier, Effect, Input, Observed, Tests, Trial};

use super::place::Place;
use super::runner::runner;
use super::verdicts::limits;

fn trial(file: &Path, program: &str) -> Trial {
    Trial {
        language: Language::of_path(file).unwrap(),
        program: program.to_owned(),
        file: Some(file.to_path_buf()),
        entry_point: None,
        line: None,
        tests: Tests::own_examples(),
        stub: None,
        limits: limits(10.0),
    }
}

/// A call `callee(arguments)`, and the result that is stated, if any.
fn input(text: &str) -> Input {
    let (call, result) = text.split_once(" == ").map_or((text, None), |(call, result)| (call, Some(result.to_owned())));
    let mut depth = 0;
    let is_open = |&(_, c): &(usize, char)| {
        depth += i32::from(c == ')') - i32::from(c == '(');
        depth == 0
    };
    let open = call.char_indices().rev().find(is_open).unwrap().0;
    let arguments = call[open + 1..].strip_suffix(')').unwrap().to_owned();
    Input { callee: call[..open].to_owned(), arguments, result, ..Input::default() }
}

/// Outcomes of calls of a file's functions. `None` on a machine that cannot run it.
fn observed(file: &Path, program: &str, calls: &[&str]) -> Option<Vec<Observed>> {
    let trial = trial(file, program);
    let runner = runner(trial.language)?;
    let inputs: Vec<Input> = calls.iter().map(|call| input(call)).collect();
    let all = runner.observe(&trial, &inputs, &Arc::default()).unwrap();
    assert_eq!(all.len(), calls.len());
    Some(all)
}

/// The calls beside what they do: the result, `!` and the error, or the effect; `~` if a second call did
/// something else, and whether the stated result is right.
#[track_caller]
fn expect(file: &str, program: &str, calls: &[(&str, &str)]) {
    let texts: Vec<&str> = calls.iter().map(|(call, _)| *call).collect();
    let Some(all) = observed(Path::new(file), program, &texts) else { return };
    told_as(&all, calls);
}

#[track_caller]
fn told_as(all: &[Observed], calls: &[(&str, &str)]) {
    for (observed, (call, expected)) in all.iter().zip(calls) {
        let unsteady = if observed.is_unsteady { "~" } else { "" };
        let right = observed.is_right.map_or("", |is_right| if is_right { " right" } else { " wrong" });
        let told = match observed.effect {
            Effect::Returned => format!("{unsteady}{}{right}", if observed.is_unsteady { "" } else { &observed.key }),
            Effect::Raised => format!("{unsteady}!{}", observed.key),
            Effect::Late => "late".to_owned(),
            Effect::Unknown => "unknown".to_owned(),
            Effect::Unloaded => format!("#{}", observed.shown.split(':').next().unwrap_or_default()),
        };
        assert_eq!(told, *expected, "{call}: {observed:?}");
    }
}

/// Timers do not wait, and what they do counts.
#[test]
fn timers_come_in_turn_and_calls_of_callbacks_count() {
    let debounce = "export function f(fn, wait) {\n  let timer;\n  return (...args) => {\n    clearTimeout(timer);\n    timer = setTimeout(() => fn(...args), wait);\n  };\n}\n";
    let file = Path::new("a.mjs");
    let Some(runner) = runner(Language::JavaScript) else { return };
    let told = |program: &str, inputs: &[Input]| {
        let all = runner.observe(&trial(file, program), inputs, &Arc::default()).unwrap();
        all.iter().map(|one| one.key.clone()).collect::<Vec<_>>()
    };
    let after = |wait: u32| Input {
        earlier: vec![Earlier { method: String::new(), arguments: "1".to_owned() }],
        ..input(&format!("f(a_callback(), {wait})(2)"))
    };
    let expected = [
        "undefined | calls what it is given with: [2]",
        "undefined | calls what it is given with: [1], [2]",
        "undefined | calls what it is given with: [2]",
    ];
    assert_eq!(told(debounce, &[input("f(a_callback(), 5000)(2)"), after(10), after(1000)]), expected);
    let waits = "export async function f(n) {\n  const begun = Date.now();\n  await new Promise((resolve) => setTimeout(resolve, n));\n  return Date.now() - begun >= n;\n}\n";
    assert_eq!(told(waits, &[input("f(60000)")]), ["true"]);
    let clocks = "export function f(n) {\n  const begun = performance.now();\n  while (performance.now() - begun < n);\n  return [Date.now() >= +new Date(), new Date().toISOString(), new Date(5) instanceof Date, new Date(0).constructor === Date];\n}\n";
    assert_eq!(told(clocks, &[input("f(0)")]), ["[true, \"2024-05-17T12:00:00.000Z\", true, true]"]);
    assert!(told(clocks, &[input("f(3000)")])[0].starts_with("[false, \"2024-05-17T12:00:03"));
    let endless = "export function f() {\n  setInterval(() => {}, 5);\n  return 1;\n}\n";
    assert_eq!(told(endless, &[input("f()")]), ["1"]);
    let throws = "export async function f() {\n  await new Promise(() => setTimeout(() => { throw new RangeError('a'); }, 5));\n}\n";
    assert_eq!(told(throws, &[input("f()")]), ["RangeError"]);
    let each = "export function f(xs, by) {\n  xs.forEach((x) => by(x));\n}\n";
    assert_eq!(told(each, &[input("f([1, 2], (x) => x)")]), ["undefined | calls what it is given with: [1], [2]"]);
}

#[test]
fn an_object_that_nobody_knows_says_what_was_asked_of_it() {
    let program = "export function f(req, res, next) {\n  if (!req.user) return res.status(401).json({ error: 'a' });\n  res.locals.user = req.user.id;\n  next();\n}\n\
        export async function g(client, id) {\n  const reply = await client.get(`/users/${id}`);\n  return (await reply.json()).items.map((one) => one.id);\n}\n\
        export function h(db) {\n  const found = [];\n  for (const row of db.all('select')) found.push(row.name);\n  return found;\n}\n\
        export function k(repo) {\n  return repo.find(1);\n}\n";
    let (req, res) = ("{ user: null }", "a_stub('res')");
    expect(
        "a.mjs",
        program,
        &[
            (
                &format!("f({req}, {res}, a_callback())"),
                "res.status(401).json({\"error\": \"a\"}) | calls what it is given with: res.status(401), res.status(401).json({\"error\": \"a\"})",
            ),
            (
                &format!("f({{ user: {{ id: 3 }} }}, {res}, a_callback())"),
                "undefined | calls what it is given with: res.locals.user = 3, []",
            ),
            (
                "g(a_stub('client'), 7)",
                "client.get(\"/users/7\").json().items.map(function) | calls what it is given with: client.get(\"/users/7\"), client.get(\"/users/7\").json(), client.get(\"/users/7\").json().items.map(function)",
            ),
            ("k(a_stub('repo', 0))", "null | calls what it is given with: repo.find(1)"),
            ("k(a_stub('repo'))", "repo.find(1) | calls what it is given with: repo.find(1)"),
            (
                "h(a_stub('db'))",
                "[db.all(\"select\")[0].name, db.all(\"select\")[1].name] | calls what it is given with: db.all(\"select\")",
            ),
        ],
    );
}

/// Answers that a person types have the keys of results.
#[test]
fn a_typed_answer_is_the_result_that_it_says() {
    let long = [format!("'{}'", "é".repeat(300)), format!("[{}]", "7, ".repeat(150))];
    let wide = format!("'{}\u{1f600}{}'", "a".repeat(98), "b".repeat(200));
    let values = [
        "null", "undefined", "true", "0", "-7", "9007199254740993", "1234567890123456789", "[]", "[1, [2.5, 'a']]",
        "{b: 1, a: [null, {'c-d': false}]}", "{a: 1, a: 2}", "0.1", "0.30000000000000004", "1e15", "1e21", "1.5e300",
        "1e-6", "1e-7", "123456789.125", "1234567890.5", "-0.000012345", "1e999", "'it\\'s'", "'say \"x\"'",
        "'a\\nb\\t\\\\'", "'日本 é'", "'\u{1f600}'",
    ];
    let values: Vec<&str> = values.into_iter().chain(long.iter().map(String::as_str)).chain([wide.as_str()]).collect();
    let called: Vec<String> = values.iter().map(|value| format!("f({value})")).collect();
    let called: Vec<&str> = called.iter().map(String::as_str).collect();
    let Some(all) = observed(Path::new("a.mjs"), "function f(x) {\n  return x;\n}\n", &called) else { return };
    for (value, observed) in values.iter().zip(&all) {
        let typed = typed(value, Language::JavaScript).unwrap();
        assert_eq!(typed.outcome(), observed.outcome(), "{value}");
    }
    let program = "function f(x) {\n  if (x > 2) throw new RangeError('no');\n  x.sort();\n}\n";
    let Some(all) = observed(Path::new("a.mjs"), program, &["f([2, 1])", "f(3)"]) else { return };
    for (text, observed) in ["undefined, and argument 1 is [1, 2]", "throws RangeError: no"].iter().zip(&all) {
        assert_eq!(typed(text, Language::JavaScript).unwrap().outcome(), observed.outcome(), "{text}");
    }
}

#[test]
fn private_state_shows_in_what_an_object_says_of_itself() {
    let told = |body: &str| {
        let program = format!(
            "class Bag {{\n  #all = [];\n  get size() {{ return this.#all.length; }}\n  toArray() {{ return [...this.#all]; }}\n  \
             put(x) {{\n    {body}\n  }}\n}}\n"
        );
        let runner = runner(Language::JavaScript)?;
        let after = Input {
            earlier: vec![Earlier { method: "put".to_owned(), arguments: "1".to_owned() }],
            ..input("(new Bag()).put(2)")
        };
        let read = Input { callee: "(new Bag()).size".to_owned(), is_read: true, ..Input::default() };
        let inputs = [input("(new Bag()).put(1)"), after, read];
        Some(runner.observe(&trial(Path::new("a.mjs"), &program), &inputs, &Arc::default()).unwrap())
    };
    let Some(last) = told("this.#all.push(x);") else { return };
    let (first, none) = (told("this.#all.unshift(x);").unwrap(), told("").unwrap());
    assert_eq!(last[0].shown, "undefined, and the object is Bag {\"size\": 1, \"toArray\": [1]}");
    assert_ne!(last[0].outcome(), none[0].outcome());
    assert_eq!(last[0].outcome(), first[0].outcome(), "one element has no order");
    assert_ne!(last[1].outcome(), first[1].outcome());
    assert_eq!(last[2].key, "0");
}

#[test]
fn functions_need_not_be_exported() {
    let program = "export function add(a, b) {\n  return a + b;\n}\nconst twice = (x) => 2 * x;\nexport default { twice };\n// The end.";
    let calls = [
        ("add(1, 2) == 3", "3 right"),
        ("add(1, 2) == 4", "3 wrong"),
        ("add(0.1, 0.2) == 0.3", "0.3 right"),
        ("twice(4)", "8"),
        ("twice('a')", "NaN"),
        ("thrice(4)", "unknown"),
    ];
    expect("a.mjs", program, &calls);
    expect("a.js", program, &calls);
    let program = "'use strict';\nconst { join } = require('node:path');\nconst own = (...parts) => join(...parts);\n\
        function source(x) {\n  return [x, typeof this];\n}\nmodule.exports = { own, other: (x) => x };\n";
    let calls = [
        ("own('a', 'b')", "\"a/b\""),
        ("source(1)", "[1, \"undefined\"]"),
        ("other(null)", "null"),
        ("other(undefined)", "undefined"),
    ];
    expect("a.cjs", program, &calls);
    expect("a.js", program, &calls);
}

#[test]
fn methods_are_called_on_their_objects() {
    let program = "class Stats {\n  #seen = 0;\n  constructor(values = []) {\n    this.values = values;\n  }\n  top() {\n    this.#seen++;\n    \
        return this.values.sort().at(-1) ?? null;\n  }\n  static of(...values) {\n    return new Stats(values);\n  }\n}\n";
    let calls = [
        ("(new Stats([1, 2])).top() == 2", "2 right"),
        ("new Stats([2, 1]).top()", "2 | 0: Stats {\"values\": [1, 2]}"),
        ("new Stats().top()", "null"),
        ("Stats.of(1)", "Stats {\"values\": [1]}"),
        ("new Stats().bottom()", "unknown"),
    ];
    expect("a.js", program, &calls);
}

#[test]
fn results_that_come_later_or_one_by_one_are_collected() {
    let program = "async function later(x) {\n  await new Promise((resolve) => setTimeout(resolve, 5));\n  \
        if (x === 0) throw new RangeError('no');\n  return x;\n}\nconst soon = async (x) => (await null, x);\n\
        function* count(n) {\n  for (let i = 0; i < n; i++) yield i;\n}\nasync function* counts(n) {\n  yield* count(n);\n}\n\
        const made = async (n) => counts(n);\nconst never = () => new Promise(() => {});\n";
    let calls = [
        ("later(1)", "1"),
        ("later(0)", "!RangeError"),
        ("soon([2]) == [2]", "[2] right"),
        ("count(3) == [0, 1, 2]", "[0, 1, 2] right"),
        ("counts(2)", "[0, 1]"),
        ("made(2)", "[0, 1]"),
        ("never(1)", "late"),
        ("soon(3)", "3"),
    ];
    expect("a.js", program, &calls);
    let Some(all) = observed(Path::new("a.js"), program, &["count(Infinity)"]) else { return };
    assert!(all[0].effect == Effect::Returned && all[0].key.len() < 200, "{all:?}");
}

#[test]
fn changes_errors_and_output_are_compared() {
    let program = "function push(list, x) {\n  list.push(x);\n}\nfunction fail(x) {\n  if (x > 1) throw new TypeError('no');\n  throw x;\n}\n\
        class Odd extends Error {}\nfunction odd() {\n  throw new Odd('odd');\n}\nconst say = (x) => console.log('it is %d', x);\n\
        const warn = (x) => console.error(x);\nconst random = () => Math.random();\nlet n = 0;\nconst next = () => ++n;\n\
        const each = (list, change) => list.map(change);\n";
    let calls = [
        ("push([1], 2)", "undefined | 0: [1, 2]"),
        ("fail(2)", "!TypeError"),
        ("fail('a')", "!thrown \"a\""),
        ("odd()", "!Odd"),
        ("say(3)", "undefined > it is 3\n"),
        ("warn(3)", "undefined"),
        ("random()", "~"),
        ("next()", "~"),
        ("each([1, 2], x => x + 1)", "[2, 3]"),
    ];
    expect("a.js", program, &calls);
}

#[test]
fn equal_values_have_equal_keys() {
    let program = "const id = (x) => x;\nclass Point {\n  constructor(x) {\n    this.x = x;\n  }\n}\n\
        class Hidden {\n  #x;\n  constructor(x) {\n    this.#x = x;\n  }\n}\nconst ring = { a: 1 };\nring.self = ring;\n";
    let Some(all) = observed(Path::new("a.js"), program, &["id([1, 'a'])", "id('a'.repeat(200))"]) else { return };
    assert_eq!((all[0].value.as_deref(), all[1].value.as_deref()), (Some("[ 1, 'a' ]"), None));
    let calls = [
        ("id(-0)", "0"),
        ("id([1e21, 123456789.123456, 1 / 3])", "[1e+21, 123456789, 0.333333333]"),
        ("id({ b: 1, a: [undefined, null] })", "{\"a\": [undefined, null], \"b\": 1}"),
        ("id(new Map([['b', 1], ['a', 2]]))", "Map{\"a\" => 2, \"b\" => 1}"),
        ("id(new Set([2, 1]))", "Set{1, 2}"),
        ("id(new Date(0))", "Date 0"),
        ("id(/a/gi)", "RegExp /a/gi"),
        ("id(new Uint8Array([1, 2]))", "Uint8Array[1, 2]"),
        ("id(10n ** 20n)", "100000000000000000000n"),
        ("id(new Point('a'))", "Point {\"x\": \"a\"}"),
        ("id(new Error('e'))", "Error: \"e\""),
        ("id(new URL('http://a.b/c'))", "URL \"http://a.b/c\""),
        ("id(ring)", "{\"a\": 1, \"self\": ...}"),
        ("id('\\ud800')", r#""\ud800""#),
        ("id(id)", "unknown"),
        ("id([Symbol('a')])", "unknown"),
        ("id(new Hidden(1))", "unknown"),
        ("id(globalThis)", "unknown"),
    ];
    expect("a.js", program, &calls);
}

#[test]
fn a_loop_or_an_exit_costs_only_its_own_call() {
    let program = "function loop(x) {\n  try {\n    while (x) {}\n  } catch {}\n  return x;\n}\nasync function wait(x) {\n  await null;\n  while (x) {}\n  return x;\n}\n\
        function exit(x) {\n  try {\n    if (x) process.exit(0);\n  } catch {}\n  return x;\n}\nfunction end(x) {\n  if (x) process.kill(process.pid, 'SIGKILL');\n  return x;\n}\n";
    let calls = [
        ("loop(1)", "late"),
        ("loop(0)", "0"),
        ("wait(1)", "late"),
        ("wait(0)", "0"),
        ("exit(1)", "!process.exit"),
        ("exit(0)", "0"),
        ("end(1)", "late"),
        ("end(0)", "0"),
    ];
    expect("a.js", program, &calls);
    // Code that is late so often is not called again.
    let calls = [("loop(1)", "late"), ("loop(2)", "late"), ("loop(3)", "late"), ("loop(0)", "late")];
    expect("a.js", program, &calls);
}

#[test]
fn code_that_cannot_be_loaded_says_so_on_every_input() {
    let both = |error| [("f(1)", error), ("f(2)", error)];
    expect("a.js", "function f(x) {\n  return x +;\n}\n", &both("#SyntaxError"));
    expect("a.mjs", "import { g } from './g.mjs';\nexport const f = g;\n", &both("#Error"));
    expect("a.js", "function f(x) {\n  return x;\n}\nnull.a;\n", &both("#TypeError"));
    for end in ["process.exit(0);", "try {\n  process.exit(0);\n} catch {}"] {
        expect("a.js", &format!("function f(x) {{\n  return x;\n}}\n{end}\n"), &both("#process.exit"));
    }
}

#[test]
fn hostile_code_breaks_nothing_but_its_own_calls() {
    let right = "function f(x) {\n  return [x, 'a', { b: x }];\n}\n";
    let told = [("f(1)", "[1, \"a\", {\"b\": 1}]"), ("f(2)", "[2, \"a\", {\"b\": 2}]")];
    for before in [
        "JSON.stringify = () => 'x'; JSON.parse = null;",
        "Object.prototype.toJSON = () => 1; String.prototype.slice = () => 'x'; String.prototype.charCodeAt = null;",
        "Array.prototype.join = () => 'x'; Array.prototype.sort = Array.prototype.map = null; Array.prototype.push = null;",
        "Array.prototype[Symbol.iterator] = null; Array.isArray = () => false; Object.keys = () => [];",
        "Reflect.apply = Function.prototype.apply = Function.prototype.call = () => 7;",
        "globalThis.setTimeout = globalThis.setImmediate = globalThis.queueMicrotask = null; process.nextTick = null;",
        "process.stdout = null; process.reallyExit = null; process.cpuUsage = null; process._tickCallback = null;",
        "require('fs').writeSync = () => 0; require('vm').Script.prototype.runInThisContext = null;",
        "delete globalThis.console; delete globalThis.process; delete globalThis.Buffer; Math.min = null;",
        "Promise.prototype.then = null; globalThis.Promise = null; performance.now = null;",
        "for (let i = 0; i < 1e5; i++) console.log('flood ' + i);",
        "setInterval(() => {}, 1); Promise.reject(new Error('stray')); setTimeout(() => { throw 1; }, 1);",
        "Object.freeze(globalThis); Object.freeze(process);",
        "process.on('exit', () => { while (true) {} }); process.emit = null;",
        "for (const name of Object.getOwnPropertyNames(globalThis)) try { globalThis[name] = null; } catch {}",
    ] {
        expect("a.js", &format!("{before}\n{right}"), &told);
    }
    let program = "const trap = () => { throw new Error('trap'); };\nconst get = () => ({ get a() { return trap(); } });\n\
        const proxy = () => new Proxy({}, { ownKeys: trap, get: trap, getPrototypeOf: trap });\n\
        const name = () => { throw { get constructor() { return trap(); } }; };\n\
        const error = () => { throw Object.defineProperty(new Error('a'), 'message', { get: trap }); };\n\
        const then = () => ({ get then() { return trap(); } });\nconst endless = () => Object.create({ toJSON() { for (;;) {} } });\n\
        const deep = (n) => { let all = []; for (let i = 0; i < n; i++) all = [all]; return all; };\n\
        const wide = () => { let all = [1]; for (let i = 0; i < 60; i++) all = [all, all]; return all; };\n\
        const good = (x) => x;\n";
    let Some(all) = observed(
        Path::new("a.js"),
        program,
        &["get()", "proxy()", "name()", "error()", "then()", "endless()", "deep(100000)", "wide()", "good(1)"],
    ) else {
        return;
    };
    let effects: Vec<Effect> = all.iter().map(|observed| observed.effect).collect();
    let [returned, raised, late, unknown] = [Effect::Returned, Effect::Raised, Effect::Late, Effect::Unknown];
    assert_eq!(effects, [unknown, raised, raised, raised, raised, late, returned, returned, returned], "{all:?}");
    assert!(all.iter().all(|observed| observed.shown.len() < 1000 && observed.key.len() < 1000), "{all:?}");
}

#[test]
fn a_project_keeps_its_modules_and_its_files() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    let place = Place::new(&[
        ("package.json", "{\"type\":\"module\",\"imports\":{\"#own\":\"./lib/own.js\"}}"),
        ("lib/own.js", "export const own = (x) => 2 * x;\n"),
        ("node_modules/dep/package.json", "{\"main\":\"index.js\"}"),
        ("node_modules/dep/index.js", "exports.dep = (x) => x + 1;\n"),
        ("src/f.js", "export function f() {}\n"),
    ]);
    let program = "import { own } from '#own';\nimport { dep } from 'dep';\nimport { writeFileSync } from 'node:fs';\n\
        export function f(x) {\n  writeFileSync(new URL('../lib/own.js', import.meta.url), '');\n  return dep(own(x));\n}\n";
    let trial = trial(&place.path().join("src/f.js"), program);
    let all = runner.observe(&trial, &[input("f(3) == 7")], &Arc::default()).unwrap();
    told_as(&all, &[("f(3)", "7 right")]);
    assert_eq!(place.changed(), [""; 0].map(std::path::PathBuf::from));
}

/// From the text of a function to the candidate that most agree with.
#[test]
fn candidates_that_do_the_same_agree() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    let text = "/**\n * The largest values.\n *\n * largest([3, 1, 2], 2);\n * // => [3, 2]\n */\nexport const largest = (values, k = 1) => {\n};\n";
    let target = Target::in_text(text, Language::JavaScript, &Spot::Function("largest".to_owned())).unwrap();
    let inputs = inputs(&target, Texts::default(), &[]).unwrap();
    let bodies = [
        "  return [...values].sort((a, b) => b - a).slice(0, k);\n",
        "  return values.sort((a, b) => a - b).reverse().slice(0, k);\n",
        "  const left = values.slice();\n  left.sort((a, b) => b - a);\n  return left.filter((_, at) => at < k);\n",
        "  return values.slice(0, k);\n",
    ];
    let witness = |candidate: usize| {
        let program = text.replace("{\n}", &format!("{{\n{}}}", bodies[candidate]));
        let observed = runner.observe(&trial(Path::new("a.mjs"), &program), &inputs, &Arc::default()).unwrap();
        Witness { members: vec![candidate], votes: 1, observed }
    };
    let witnesses: Vec<Witness> = (0..bodies.len()).map(witness).collect();
    let standings = tally(&witnesses, &inputs);
    let best = (0..bodies.len()).max_by_key(|&candidate| standings[candidate].order()).unwrap();
    assert!([0, 2].contains(&best), "{standings:?}");
    assert_eq!(standings.iter().map(|standing| standing.right).collect::<Vec<_>>(), [1, 1, 1, 0]);
    assert!(standings[0].group != standings[1].group && standings[1].agree == 1, "{standings:?}");
}

/// The needs of each kind of TypeScript project are tried without its tools, by packages that stand in for them.
#[test]
fn typescript_is_read_by_what_its_project_has() {
    let Some(runner) = runner(Language::JavaScript) else { return };
    // It knows one type.
    let remove = "replaceAll(': number', '')";
    let loader = format!(
        "const {{ readFileSync }} = require('node:fs');\nrequire.extensions['.ts'] = (module, file) => {{\n  \
        const text = readFileSync(file, 'utf8');\n  if (text.includes('= =')) throw new Error(`Transform failed:\\n${{file}}:1:9: ERROR: no`);\n  \
        module._compile(text.{remove}, file);\n}};\n"
    );
    let compiler = format!(
        "exports.JsxEmit = exports.ModuleKind = exports.ScriptTarget = {{}};\nexports.flattenDiagnosticMessageText = String;\n\
        exports.transpileModule = (text) => ({{ diagnostics: text.includes('= =') ? [{{ messageText: 'no' }}] : [], outputText: text.{remove} }});\n"
    );
    let esbuild = format!("exports.transformSync = (text) => ({{ code: text.{remove} }});\n");
    let program = "const { twice } = require('./helper.js');\nconst f = (x: number) => twice(x);\n";
    for (package, text) in [("ts-node", &loader), ("typescript", &compiler), ("esbuild", &esbuild)] {
        // A loader of its own finds no other endings.
        let helper = if package == "ts-node" { "src/helper.js" } else { "src/helper.ts" };
        let [main, register] = ["package.json", "register.js"].map(|name| format!("node_modules/{package}/{name}"));
        let place = Place::new(&[
            ("package.json", "{}"),
            (&main, "{\"main\":\"register.js\"}"),
            (&register, text),
            (
                helper,
                if package == "ts-node" {
                    "exports.twice = (x) => 2 * x;\n"
                } else {
                    "exports.twice = (x: number) => 2 * x;\n"
                },
            ),
            ("src/f.ts", ""),
        ]);
        let observe = |program: &str| {
            let trial = trial(&place.path().join("src/f.ts"), program);
            runner.observe(&trial, &[input("f(3)"), input("(new Map([[1, 2]])).get(1)")], &Arc::default()).unwrap()
        };
        told_as(&observe(program), &[("f(3)", "6"), ("get(1)", "2")]);
        told_as(&observe(&format!("{program}let x = = 1;\n")), &[("f(3)", "#SyntaxError"), ("get(1)", "#SyntaxError")]);
    }
    let place = Place::new(&[("package.json", "{}"), ("f.jsx", "")]);
    let trial = trial(&place.path().join("f.jsx"), "const f = () => <a/>;\n");
    let error = runner.observe(&trial, &[input("f()")], &Arc::default()).unwrap_err().to_string();
    assert_eq!(error, "node does not read JSX by itself: install tsx or typescript for f.jsx");
}

#[test]
fn node_removes_types_itself() {
    let program = "interface Pair { x: number }\nenum Colour { Red, Green }\nexport function f(p: Pair): number {\n    return 2 * p.x + Colour.Green;\n}\n\
        class Count {\n    constructor(private n: number) {}\n    next(): number { return ++this.n; }\n}\n";
    expect("a.ts", program, &[("f({ x: 2 })", "5"), ("(new Count(1)).next()", "2 | 0: Count {\"n\": 2}")]);
}

#[test]
fn files_are_made_for_a_call_and_those_that_it_writes_are_compared() {
    let program = "const fs = require('node:fs');\nfunction f(path, text) {\n  if (text === undefined) {\n    \
        if (fs.statSync(path).isDirectory()) return fs.readdirSync(path).sort();\n    \
        return fs.readFileSync(path, 'utf8').split('\\n').length;\n  }\n  if (text === '') return fs.rmSync(path);\n  \
        fs.writeFileSync(path, text);\n}\nasync function g(path) {\n  await fs.promises.appendFile(path, 'b');\n}\n";
    let made = "a_file(\"one.csv\", \"a,b\\n\")";
    let calls = [
        (&*format!("f({made})"), "2"),
        ("f(a_folder('one', { 'a.txt': 'x', 'c/d.txt': 'y' }))", "[\"a.txt\", \"c\"]"),
        ("f('one.csv')", "!Error"),
        (&*format!("f({made}, 'new')"), "undefined | one.csv: \"new\""),
        (&*format!("f({made}, '')"), "undefined | no one.csv"),
        ("f('out.txt', 'x')", "undefined | out.txt: \"x\""),
        (&*format!("g({made})"), "undefined | one.csv: \"a,b\\nb\""),
    ];
    expect("a.cjs", program, &calls);
}
