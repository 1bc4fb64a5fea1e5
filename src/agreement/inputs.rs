//! Inputs for a function: calls that the user's texts show, changes of their values, and typical values of
//! its parameters.

use std::collections::HashSet;

use super::annotation::Types;
use super::calls::{Call, Called};
use super::head::{head_of, parameters};
use super::kind::{Kind, Parameter, Way, arguments, told_arguments};
use super::known::{Given, Known, with_known};
use super::links;
use super::literals::Literals;
use super::methods::{self, Before, Method};
use super::mutation::MUTATIONS;
use super::related::{self, related};
use super::returned;
use super::value::{self, Argument, Value, written};
use crate::code::{self, Declarations, Target};
use crate::hash;
use crate::language::Language;
use crate::trial::{Earlier, Input, TrialError};

/// Most inputs of a function.
pub const MOST: usize = 50;
/// Most of them as they stand in texts.
const MOST_SHOWN: usize = 20;
/// Most of the rest that are changed calls of texts.
const MOST_CHANGED: usize = 22;
/// Most calls whose arguments are all values that documentation or candidates speak of.
const MOST_TOLD: usize = 12;
/// Most inputs that are added since candidates speak of more.
const MOST_MORE: usize = 16;

/// Texts about a function, beside its file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Texts<'a> {
    /// Tests.
    pub tests: &'a [String],
    /// A sentence on what is wanted of it.
    pub wish: Option<&'a str>,
}

/// The inputs of a function. Calls are looked for in its own text and in tests, values in the user's sentence
/// and in these bodies. The error is a sentence.
pub fn inputs(target: &Target, texts: Texts<'_>, bodies: &[&str]) -> Result<Vec<Input>, String> {
    if !target.language.is_observed() {
        return Err(TrialError::Unobserved { language: target.language.title() }.to_string());
    }
    let called = called(target)?;
    with_known(target, &called, texts, bodies, |known, given| made(target, (&called, known), given, bodies))
}

/// The inputs of these parameters.
fn made(
    target: &Target,
    (called, known): (&Called, &Known),
    Given { mut parameters, is_typed }: Given,
    bodies: &[&str],
) -> Result<Vec<Input>, String> {
    let (types, shown) = (known.types, known.shown);
    let mut levels = Vec::new();
    for (at, text) in returned::levels(target.language, bodies).iter().enumerate() {
        let mut taken = types.parameters(text, 0);
        known.tell(&mut taken, at + 1);
        levels.push(taken);
    }
    if let Some(last) = levels.len().checked_sub(1) {
        parameters = returned::with_showing(parameters);
        levels[..last].iter_mut().for_each(|level| *level = returned::with_showing(std::mem::take(level)));
    }
    let mut all = Inputs { called, seen: HashSet::new(), all: Vec::new() };
    for call in shown {
        all.add(call, MOST_SHOWN);
    }
    let most = all.all.len() + MOST_CHANGED;
    changed_calls(shown, target, &mut all, most);
    let object = called.class.as_deref().filter(|_| !called.is_static).and_then(|class| types.object(class));
    let others = methods::others(target, called, types);
    let alone: Vec<Call> = shown.iter().filter(|call| call.level == 0).cloned().collect();
    let from = all.all.len();
    typical_calls(called, object.as_ref(), (&parameters, &others), &alone, &mut all);
    all.all[from..].iter_mut().for_each(|input| input.is_typed = is_typed);
    if !levels.is_empty() {
        let (returned, outer): (Vec<_>, Vec<_>) = all.all.into_iter().partition(Input::is_of_returned);
        all.all = returned::calls(called, &outer, &levels, MOST.saturating_sub(returned.len()));
        all.all.splice(..0, returned);
    }
    if all.all.is_empty() {
        return Err(format!("{} cannot be called: nothing says what it takes", target.name));
    }
    for input in &mut all.all {
        input.is_meant = known.words.are_meant(&input.arguments);
    }
    Ok(all.all)
}

/// Further inputs beside `inputs`, where these bodies compare with more than the known ones do, more of them
/// return functions, or they show other kinds of parameters.
pub fn more_inputs(
    target: &Target,
    texts: Texts<'_>,
    (known, bodies): (&[&str], &[&str]),
    inputs: &[Input],
) -> Vec<Input> {
    let of = |bodies: &[&str]| Literals::of(target.language, bodies);
    let levels = |bodies: &[&str]| returned::levels(target.language, bodies).len();
    let kinds = |bodies: &[&str]| {
        let called = called(target).ok()?;
        Some(with_known(target, &called, texts, bodies, |_, given| given.parameters))
    };
    let is_like = |one: &Parameter, other: &Parameter| one.kind.is_like(&other.kind);
    let are_like = match (kinds(known), kinds(bodies)) {
        (Some(one), Some(other)) => one.iter().zip(&other).all(|(one, other)| is_like(one, other)),
        _ => true,
    };
    if are_like && !of(bodies).has_more_than(&of(known)) && levels(bodies) == levels(known) {
        return Vec::new();
    }
    let all = self::inputs(target, texts, bodies).unwrap_or_default();
    let is_new = |input: &Input| inputs.iter().all(|old| old.text() != input.text());
    // Inputs of the wrong kind say little: the new ones are to be as many.
    all.into_iter().filter(is_new).take(if are_like { MOST_MORE } else { MOST }).collect()
}

/// The input that a call states as a person types it, perhaps without its last parenthesis. The error is a
/// sentence.
pub fn typed_call(target: &Target, text: &str) -> Result<Input, String> {
    let called = called(target)?;
    let text = text.trim();
    // The call itself, or that of what it returns: `f(1)(2)`.
    let longer = |one: Call, other: Call| if other.level > one.level { other } else { one };
    let of = |text: &str| called.calls(text).into_iter().reduce(longer);
    let closed = format!("{text})");
    let [first, second] = if text.ends_with(')') { [text, &closed] } else { [&closed, text] };
    let call = of(first).or_else(|| of(second)).filter(|_| !called.is_read);
    let refused = |why: &str| format!("`{text}` is no call of {}: {why}", target.name);
    // Each candidate would fail alike on what the language cannot read.
    let is_begun = text.contains(&format!("{}(", called.name));
    if is_begun && ![first, second].iter().any(|text| code::can_be_read(target.language, text)) {
        return Err(refused(&format!("{} cannot read it; look for a comma or a bracket", target.language.title())));
    }
    let call = call.ok_or_else(|| refused(&format!("type `{}(` and arguments", called.callee())))?;
    let mut all = Inputs { called: &called, seen: HashSet::new(), all: Vec::new() };
    all.add(&Call { result: None, ..call }, 1);
    all.all.pop().ok_or_else(|| format!("`{text}` cannot be called"))
}

/// Returns true if an input leaves out an argument that the function could take, or it takes none.
pub fn leaves_out(target: &Target, input: &Input) -> bool {
    let Ok(called) = called(target) else { return false };
    if input.is_of_returned() {
        return false;
    }
    let head = head_of(target);
    let declared = Declarations::of_file(target.language, &target.text);
    let types = Types::new(target.language, &declared);
    let taken = parameters(types, head, &called.name).unwrap_or_default();
    let given = value::arguments(&format!("{})", input.arguments), 0, target.language).map_or(0, |(all, _)| all.len());
    taken.is_empty() || given < taken.iter().filter(|parameter| parameter.way != Way::Rest).count()
}

/// The function as calls name it.
pub(super) fn called(target: &Target) -> Result<Called, String> {
    let mut parts: Vec<&str> = target.name.split('.').collect();
    let name = parts.pop().unwrap_or_default().to_owned();
    let around = target.around().iter().filter_map(|head| target.text.get(head.clone()));
    let heads: Vec<&str> = around.map(str::trim_start).collect();
    let is_class = |head: &&str| head.starts_with("class ") || head.starts_with("export ") || head.starts_with('@');
    if !heads.iter().all(is_class) || parts.len() > 1 {
        return Err(format!("{} stands inside another function and cannot be called on its own", target.name));
    }
    let head = head_of(target);
    let above = target.text.get(..target.function.start).unwrap_or_default();
    let above = above.lines().rev().take_while(|line| line.trim_start().starts_with('@'));
    let lines: Vec<&str> = head.lines().chain(above).map(str::trim).collect();
    let has = |words: &[&str]| lines.iter().any(|line| words.iter().any(|word| line.starts_with(word)));
    let is_python = target.language == Language::Python;
    let is_static = if is_python { has(&["@staticmethod", "@classmethod"]) } else { has(&["static "]) };
    let is_read =
        if is_python { has(&["@property", "@cached_property", "@functools.cached_property"]) } else { has(&["get "]) };
    let class = parts.pop().map(str::to_owned);
    let is_read = is_read && class.is_some();
    Ok(Called { language: target.language, name, class, is_static, is_read })
}

/// The calls in the texts of the user, those with literal arguments first.
pub(super) fn shown_calls(target: &Target, called: &Called, head: &str, tests: &[String]) -> Vec<Call> {
    let is_literal = |call: &Call| call.arguments.iter().all(|argument| !argument.value.has_other());
    let mut documented = called.calls(head);
    // `compose(f, g)(x)`: names stand for any values there.
    let known = code::defined(target.language, &target.text);
    let is_unknown = |call: &Call| {
        let is_bare = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        call.arguments.iter().any(|argument| {
            matches!(&argument.value, Value::Other(name) if is_bare(name) && !known.contains(name) && !code::is_builtin(target.language, name))
        })
    };
    let of = |call: &Call| format!("{}({})", call.callee, written(&call.arguments, target.language));
    let unknown: Vec<String> = documented.iter().filter(|call| is_unknown(call)).map(of).collect();
    documented.retain(|call| !unknown.iter().any(|text| of(call).starts_with(text)));
    let elsewhere = tests.iter().chain([&target.text]).flat_map(|text| called.calls(text));
    // The code elsewhere has values of its own; what it states are no results of a reader's.
    let elsewhere = elsewhere.filter(is_literal).map(|call| Call { result: None, ..call });
    let mut all: Vec<Call> = documented.into_iter().chain(elsewhere).collect();
    all.sort_by_key(|call| !is_literal(call));
    all
}

struct Inputs<'a> {
    called: &'a Called,
    seen: HashSet<String>,
    all: Vec<Input>,
}

impl Inputs<'_> {
    /// Adds a call, unless it is there or there are `most`.
    fn add(&mut self, call: &Call, most: usize) {
        self.add_after(Vec::new(), call, most);
    }

    /// Adds a call of a method after others on the same object.
    fn add_after(&mut self, earlier: Vec<Earlier>, call: &Call, most: usize) {
        let input = Input {
            callee: call.callee.clone(),
            arguments: written(&call.arguments, self.called.language),
            result: call.result.clone(),
            earlier,
            is_read: self.called.is_read,
            is_meant: false,
            is_typed: false,
        };
        self.add_input(input, most);
    }

    fn add_input(&mut self, input: Input, most: usize) {
        if self.all.len() < most.min(MOST) && self.seen.insert(input.text()) {
            self.all.push(input);
        }
    }
}

/// The shown calls with changed values: of one argument, or of all.
fn changed_calls(shown: &[Call], target: &Target, all: &mut Inputs, most: usize) {
    let shown: Vec<&Call> = shown.iter().filter(|call| !call.arguments.is_empty()).take(MOST_SHOWN).collect();
    if shown.is_empty() {
        return;
    }
    // The order follows from the name alone, so that it is the same each time.
    let mut state = hash::of(target.name.as_bytes());
    for turn in 0..MUTATIONS.len() * 4 {
        let mutation = MUTATIONS[turn % MUTATIONS.len()];
        for step in 0..2 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let pick = (state >> 33) as usize;
            let call = shown[(turn + step * 7 + pick) % shown.len()];
            let place = pick / 5 % (call.arguments.len() + usize::from(call.arguments.len() > 1));
            let change = |(at, argument): (usize, &Argument)| {
                let is_it = at == place || place == call.arguments.len();
                let value = if is_it { mutation(&argument.value, pick / 11) } else { Some(argument.value.clone()) };
                Some(Argument { name: argument.name.clone(), value: value? })
            };
            let arguments = call.arguments.iter().enumerate().map(change).collect::<Option<Vec<_>>>();
            if let Some(arguments) = arguments {
                all.add(&Call { arguments, result: None, ..(*call).clone() }, most);
            }
        }
    }
}

/// Calls with typical values of the parameters. A method is called on new objects of its class.
fn typical_calls(
    called: &Called,
    object: Option<&Kind>,
    (parameters, others): (&[Parameter], &[Method]),
    shown: &[Call],
    all: &mut Inputs,
) {
    let usual = shown.iter().map(|call| call.arguments.len()).max();
    // Objects of the texts, and now and then others.
    let callee = |number: usize| match (shown.first(), object) {
        (Some(call), object) if object.is_none() || number % 3 < 2 => call.callee.clone(),
        (Some(_), Some(object)) => called.on(&links::receiver(object, number / 3)),
        // One that is to be filled is small.
        (None, Some(object)) if methods::is_later(number) => called.on(&links::receiver(object, number / 8 * 2 + 2)),
        (None, Some(object)) => called.on(&links::receiver(object, number)),
        (_, None) => called.callee(),
    };
    // State that a method leaves behind shows in the next call.
    let is_method = called.class.is_some() && !called.is_static;
    for number in 0..MOST_TOLD {
        if let Some(arguments) = told_arguments(parameters, number) {
            all.add(&Call { callee: callee(number), arguments, result: None, level: 0 }, MOST);
        }
    }
    for number in 0..3 * MOST {
        let callee = callee(number);
        let class = called.class.as_deref().filter(|_| is_method);
        let numbers = related::numbers(&callee, class, called.language);
        let later = methods::later(called, (&callee, parameters), (others, &numbers), number);
        if let Some(input) = later.filter(|_| is_method) {
            all.add_input(input, MOST);
            continue;
        }
        let mut before = Before::of(numbers);
        let earlier =
            if is_method { methods::earlier(called, parameters, (others, &mut before), number) } else { Vec::new() };
        // Each fourth call follows the same earlier ones, so that the turn goes on slower than the number.
        let turn = number / 4 + number % 4;
        let arguments = related(arguments(parameters, number, usual), &before.numbers, turn, false);
        let arguments = before.share(parameters, arguments, number);
        all.add_after(earlier, &Call { callee, arguments, result: None, level: 0 }, MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Place;

    fn of(text: &str, name: &str, tests: &[&str]) -> Result<Vec<String>, String> {
        let target = Target::in_text(text, Language::Python, &Place::Function(name.to_owned())).unwrap();
        let tests: Vec<String> = tests.iter().map(|text| (*text).to_owned()).collect();
        let all = inputs(&target, Texts { tests: &tests, wish: None }, &[])?;
        let one = |input: Input| input.text() + &input.result.map(|r| format!(" = {r}")).unwrap_or_default();
        Ok(all.into_iter().map(one).collect())
    }

    #[test]
    fn shown_calls_come_first_then_changed_and_typical_ones() {
        let text = "def most(numbers, k=1):\n    \"\"\"The largest.\n\n    >>> most([3, 1], 2)\n    [3, 1]\n    \"\"\"\n    pass\n\nprint(most(data))\nmost([5])\n";
        let all = of(text, "most", &["assert most([1, 2, 2], 1) == [2]\n"]).unwrap();
        assert_eq!(all[..3], ["most([3, 1], 2) = [3, 1]", "most([1, 2, 2], 1)", "most([5])"]);
        assert_eq!(all.len(), MOST);
        assert!(
            all.iter().any(|input| input == "most([], 2)") && all.iter().any(|input| input.starts_with("most([0, 0]")),
            "{all:?}"
        );
        assert_eq!(of(text, "most", &["assert most([1, 2, 2], 1) == [2]\n"]).unwrap(), all, "the same each time");
    }

    #[test]
    fn values_that_the_user_speaks_of_are_given() {
        let text = "def shout(text, mark='!'):\n    \"\"\"Upper case.\n\n    >>> shout('a')\n    'A!'\n    \"\"\"\n    return text.upper() + mark\n";
        let target = Target::in_text(text, Language::Python, &Place::Function("shout".to_owned())).unwrap();
        let given = |wish: &str| {
            let all = inputs(&target, Texts { tests: &[], wish: Some(wish) }, &[]).unwrap();
            all.iter().map(Input::text).collect::<Vec<String>>()
        };
        let none = given("also accept None, as an empty text");
        assert!(none.iter().take(15).any(|input| input == "shout(None)"), "{none:?}");
        assert!(given("leave 'n/a' alone").iter().any(|input| input.contains("n/a")));
        assert!(given("sort case-insensitively").iter().all(|input| !input.contains("None")));
    }

    #[test]
    fn without_calls_annotations_and_names_say_what_to_give() {
        let all = of("def f(words: list[str], *, sep=\"-\") -> str:\n    pass\n", "f", &[]).unwrap();
        assert!(
            all.contains(&"f([])".to_owned()) && all.contains(&"f([\"a\", \"abc\", \"hello world\"])".to_owned()),
            "{all:?}"
        );
        let all = of("class A:\n    def f(self, n, s='x'):\n        pass\n", "A.f", &[]).unwrap();
        assert!(all[0].starts_with("A().f(0") && all.iter().any(|input| input.contains(", \"")), "{all:?}");
        assert_eq!(of("def f():\n    pass\n", "f", &[]).unwrap(), ["f()"]);
        let all = of("def f(*xs: int, by):\n    pass\n", "f", &[]).unwrap();
        assert!(all.contains(&"f(1, 2, 3, by=-1)".to_owned()), "{all:?}");
        assert_eq!(of("def f(*args):\n    pass\n", "f", &[]).unwrap()[1], "f(2)");
        let error = of("def f():\n    def g(x):\n        pass\n    return g\n", "f.g", &[]).unwrap_err();
        assert!(error.contains("f.g stands inside another function"), "{error}");
    }

    #[test]
    fn methods_are_called_on_objects_that_their_class_makes() {
        let text = "class T:\n    def __init__(self, a: int, names: list[str] = ()):\n        self.a = a\n\n    def put(self, x):\n        pass\n\n    @staticmethod\n    def of(x):\n        pass\n\n    @property\n    def total(self):\n        pass\n";
        let all = of(text, "T.put", &[]).unwrap();
        assert!(
            all.iter().any(|input| input.starts_with("T(2, ["))
                && all.iter().any(|input| input.contains(", then put("))
        );
        assert!(of(text, "T.of", &[]).unwrap()[0].starts_with("T.of(0"));
        assert!(of(text, "T.total", &[]).unwrap().contains(&"T(1).total".to_owned()));
    }

    #[test]
    fn methods_are_called_after_others_of_their_object() {
        let text = "class Cache:\n    def __init__(self, size: int):\n        self.size = size\n\n    def get(self, key: str):\n        pass\n\n    def put(self, key: str, value: int):\n        self.all[key] = value\n\n    def drop(self, key):\n        raise NotImplementedError\n";
        let all = of(text, "Cache.get", &[]).unwrap();
        assert!(all.iter().any(|input| input.contains(").put(\"") && input.contains(", then get(\"")), "{all:?}");
        assert!(!all.iter().any(|input| input.contains("drop(")), "it is not finished");
        let is_of_key = |call: &&String| {
            call.match_indices("put(\"").any(|(at, _)| {
                let key = call[at + 4..].split(',').next().unwrap();
                call.ends_with(&format!("get({key})"))
            })
        };
        assert!(all.iter().filter(is_of_key).count() > 3, "keys that are there: {all:?}");
        // A full one: the first key is read, then another one comes.
        let is_full = |call: &String| {
            call.starts_with("Cache(2).put(") && call.matches("put(").count() == 3 && call.contains(", then get(")
        };
        assert!(all.iter().any(is_full), "{all:?}");
        let all = of(text, "Cache.put", &[]).unwrap();
        assert!(all.iter().any(|input| input.matches("put(").count() == 5), "{all:?}");
    }

    #[test]
    fn values_that_the_documentation_speaks_of_are_given() {
        let text = "def f(text: str) -> int:\n    \"\"\"The day of a date such as 2024-05-17, or of `a b`, e.g. host:port.\"\"\"\n    pass\n";
        let all = of(text, "f", &[]).unwrap();
        for word in ["2024-05-17", "a b", "host:port"] {
            assert!(all.contains(&format!("f(\"{word}\")")), "{word}: {all:?}");
        }
        let all =
            of("def f(text: str, n: int):\n    \"\"\"All #tags; 1536 of them.\"\"\"\n    pass\n", "f", &[]).unwrap();
        assert!(
            all.iter().any(|call| call.starts_with("f(\"#tags\"")) && all.iter().any(|call| call.contains(", 1536)")),
            "{all:?}"
        );
        let all = of("def f(a: dict, xs):\n    \"\"\"Merges nested dicts.\"\"\"\n    pass\n", "f", &[]).unwrap();
        assert!(all.iter().any(|call| call.contains("\": {\"")), "{all:?}");
    }

    #[test]
    fn values_that_candidates_compare_with_are_given_each_with_each() {
        let text = "function handle(method, path) {\n}\n";
        let target = Target::in_text(text, Language::JavaScript, &Place::Function("handle".to_owned())).unwrap();
        let first = ["  if (method === 'GET') return 1;\n"];
        let both = [first[0], "  if (method === 'PUT' && path === '/a') return 2;\n"];
        let all = inputs(&target, Texts::default(), &first).unwrap();
        assert_eq!(more_inputs(&target, Texts::default(), (&first, &first), &all), []);
        let more = more_inputs(&target, Texts::default(), (&first, &both), &all);
        assert!(
            more.len() <= MOST_MORE && more.iter().any(|input| input.text() == "handle(\"PUT\", \"/a\")"),
            "{more:?}"
        );
    }

    #[test]
    fn calls_whose_names_stand_for_any_values_are_no_inputs() {
        let text = "from m import other\n\ndef compose(*functions):\n    \"\"\"compose(f, g)(x) is f(g(x)); compose(str, other) is fine.\"\"\"\n    pass\n";
        let all = of(text, "compose", &[]).unwrap();
        assert_eq!(all[0], "compose(str, other)");
        assert!(!all.iter().any(|call| call.contains("f, g")), "{all:?}");
    }

    #[test]
    fn kinds_that_later_candidates_show_reach_the_inputs() {
        let text = "def group(items, key):\n    pass\n";
        let target = Target::in_text(text, Language::Python, &Place::Function("group".to_owned())).unwrap();
        let first = ["    return {k: list(v) for k, v in groupby(items, key)}\n"];
        let both = [first[0], "    for x in items:\n        out[key(x)].append(x)\n    return out\n"];
        let all = inputs(&target, Texts::default(), &first).unwrap();
        let more = more_inputs(&target, Texts::default(), (&first, &both), &all);
        let called = more.iter().filter(|input| input.arguments.contains("lambda x: x")).count();
        assert!(more.len() > MOST_MORE && called > 5, "{more:?}");
        assert_eq!(more_inputs(&target, Texts::default(), (&both, &both), &all), []);
    }

    #[test]
    fn kinds_that_candidates_show_reach_the_inputs() {
        let of = |text: &str, name: &str, body: &str| {
            let target = Target::in_text(text, Language::Python, &Place::Function(name.to_owned())).unwrap();
            inputs(&target, Texts::default(), &[body]).unwrap().iter().map(Input::text).collect::<Vec<String>>()
        };
        let any = |all: &[String], part: &str| assert!(all.iter().any(|call| call.contains(part)), "{part}: {all:?}");
        let merge = "    for s, e in sorted(xs):\n        out[-1] = (s, e)\n";
        any(&of("def overlaps(xs):\n    pass\n", "overlaps", merge), "([(1, 4), (2, 6), (5, 5)])");
        any(&of("def f(xs):\n    pass\n", "f", merge), "([(0, 1), (1, 2), (2, 0)])");
        let all = of("def f(*fs):\n    pass\n", "f", "    for f in fs:\n        x = f(x)\n");
        any(&all, "f(lambda x: x == 2)");
        let all = of("def f(root, end):\n    pass\n", "f", "    for a in os.walk(root):\n        pass\n");
        any(&all, "f(a_folder(\"one\"");
        let text = "class Tree:\n    def __init__(self, value, left=None):\n        pass\n\ndef f(a, n):\n    pass\n";
        any(&of(text, "f", "    return f(a.left, n) + a.value\n"), "f(Tree(");
        let text =
            "class A:\n    def __init__(self, n, clock=time.time):\n        pass\n\n    def f(self):\n        pass\n";
        let all = of(text, "A.f", "    return self.clock()\n");
        assert!(all.iter().all(|call| call.contains(", clock=")), "{all:?}");
        any(&all, "A(1, clock=");
        let text = "def f(text, values):\n    \"\"\"Fill {{name}}.\"\"\"\n    pass\n";
        any(
            &of(text, "f", "    return re.sub('a', values.get('x'), text)\n"),
            "f(\"Dear {{name}}!\", {\"name\": \"Ann\"})",
        );
    }

    #[test]
    fn a_call_that_leaves_out_an_argument_is_known() {
        let text = "def age(born: date, on=None):\n    pass\n\ndef now():\n    pass\n\nclass A:\n    def f(self, x):\n        pass\n";
        for (name, call, is_left) in [
            ("age", "age(date(2024, 2, 29))", true),
            ("age", "age(date(2024, 2, 29), on=date(2025, 1, 1))", false),
            ("now", "now()", true),
            ("A.f", "A().f(3)", false),
        ] {
            let target = Target::in_text(text, Language::Python, &Place::Function(name.to_owned())).unwrap();
            assert_eq!(leaves_out(&target, &typed_call(&target, call).unwrap()), is_left, "{call}");
        }
    }

    #[test]
    fn a_typed_call_is_an_input() {
        let of = |text: &str, name: &str, call: &str| {
            let target = Target::in_text(text, Language::Python, &Place::Function(name.to_owned())).unwrap();
            typed_call(&target, call).map(|input| input.text())
        };
        let text = "class T:\n    def __init__(self, a):\n        pass\n\n    def put(self, x):\n        pass\n\ndef f(x, y=1):\n    pass\n";
        assert_eq!(of(text, "f", " f(\"#a\", y = [1, 2]").unwrap(), "f(\"#a\", y=[1, 2])");
        assert_eq!(of(text, "T.put", "T(3).put(g(1))").unwrap(), "T(3).put(g(1))");
        for call in ["f(1 2)", "f([1 2]", "f([1, 2)", "f(1))", "f('a)", "f(1, *)"] {
            let why = of(text, "f", call).unwrap_err();
            assert_eq!(why, format!("`{call}` is no call of f: Python cannot read it; look for a comma or a bracket"));
        }
        assert_eq!(of(text, "f", "f((1, 2)").unwrap(), "f((1, 2))");
        assert_eq!(of(text, "f", "g(1)").unwrap_err(), "`g(1)` is no call of f: type `f(` and arguments");
    }

    #[test]
    fn javascript_functions_are_called_by_their_signatures() {
        let of = |language, text: &str, name: &str| -> Vec<String> {
            let target = Target::in_text(text, language, &Place::Function(name.to_owned())).unwrap();
            let all = inputs(&target, Texts::default(), &[]).unwrap();
            all.into_iter().map(|input| format!("{}({})", input.callee, input.arguments)).collect()
        };
        let script = |text: &str, name: &str| of(Language::JavaScript, text, name);
        let text = "/**\n * f(1, 2) is 3.\n */\nconst f = (words, n = 2) => {\n  return n;\n};\n";
        let all = script(text, "f");
        assert!(all[0] == "f(1, 2)" && all.len() == MOST, "{all:?}");
        let all = script("export function f(words, isOn) {\n}\n", "f");
        assert!(all.iter().any(|call| call.starts_with("f([\"a\"")), "{all:?}");
        let all = script("exports.f = async words => {\n};\n", "f");
        assert!(all.iter().any(|call| call.starts_with("f([\"a\"")), "{all:?}");
        let text =
            "/**\n * @param {Array<string>} ab the words\n * @param {boolean} [a]\n */\nfunction f(a, ab) {\n}\n";
        assert!(script(text, "f").iter().any(|call| call.starts_with("f(true, [\"")), "{:?}", script(text, "f"));
        let text = "/**\n * @param {{name: string, price: number}[]} rows\n * @param {?{n: number}} o\n */\nfunction f(rows, o) {\n}\n";
        let all = script(text, "f");
        assert!(all.iter().any(|call| call.contains("[{\"name\": \"abc\", \"price\": ")), "{all:?}");
        assert!(all.iter().any(|call| call.contains(", {\"n\": ")), "{all:?}");
        let text = "export function pick<T extends object, K extends keyof T>(o: T, ks: K[]): Pick<T, K> {\n}\n";
        let all = of(Language::TypeScript, text, "pick");
        assert!(all.iter().any(|call| call.contains("({\"a\": 10, ") && call.contains("[\"a\", ")), "{all:?}");
        let text = "class Stats {\n  static of(text) {\n  }\n  top(k) {\n  }\n}\n";
        assert!(script(text, "Stats.of")[0].starts_with("Stats.of(\""), "{:?}", script(text, "Stats.of"));
        assert!(script(text, "Stats.top")[0].starts_with("(new Stats()).top("), "{:?}", script(text, "Stats.top"));
        let text = "export const f = (a: string[], b: Record<number, boolean>): number => {\n  return 0;\n};\n";
        let all = of(Language::TypeScript, text, "f");
        assert!(all.iter().any(|call| call.contains("[\"a\"") && call.contains("{\"")), "{all:?}");
    }
}
