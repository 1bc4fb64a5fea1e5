//! Inputs for a function: calls that the user's texts show, changes of their values, and typical values of
//! its parameters.

use std::collections::HashSet;

use super::calls::{Call, Called};
use super::kind::Kind;
use super::mutation::MUTATIONS;
use super::value::{Argument, literal, parts};
use crate::code::Target;
use crate::hash;
use crate::language::Language;
use crate::trial::{Input, TrialError};

/// Most inputs of a function.
pub const MOST: usize = 50;
/// Most of them as they stand in texts.
const MOST_SHOWN: usize = 20;
/// Most of the rest that are changed calls of texts.
const MOST_CHANGED: usize = 22;

/// A parameter.
#[derive(Clone, Debug, Default, PartialEq)]
struct Parameter {
    name: String,
    kind: Kind,
    has_default: bool,
}

/// Returns true for languages whose candidates are called.
pub fn are_called(language: Language) -> bool {
    language == Language::Python || language.is_kin(Language::JavaScript)
}

/// The inputs of a function. Calls are looked for in its own text and in these texts of tests. The error is a
/// sentence.
pub fn inputs(target: &Target, tests: &[String]) -> Result<Vec<Input>, String> {
    if !are_called(target.language) {
        return Err(TrialError::Unobserved { language: target.language.title() }.to_string());
    }
    let called = called(target)?;
    let head = target.text.get(target.function.start..target.body.start).unwrap_or_default();
    let shown = shown_calls(target, &called, head, tests);
    let mut parameters = parameters(target.language, head, &called.name).unwrap_or_default();
    for (at, parameter) in parameters.iter_mut().enumerate() {
        let is_it = |place: usize, argument: &Argument| match &argument.name {
            Some(name) => *name == parameter.name,
            None => place == at,
        };
        let of_call = |call: &Call| {
            let arguments = call.arguments.iter().enumerate();
            Some(Kind::of(&arguments.into_iter().find(|(place, argument)| is_it(*place, argument))?.1.value))
        };
        let seen = shown.iter().filter_map(of_call).fold(Kind::Unknown, Kind::or);
        let known = seen.or(std::mem::take(&mut parameter.kind));
        parameter.kind = if known == Kind::Unknown { Kind::of_name(&parameter.name) } else { known };
    }
    let mut all = Inputs { language: target.language, seen: HashSet::new(), all: Vec::new() };
    for call in &shown {
        all.add(call, MOST_SHOWN);
    }
    let most = all.all.len() + MOST_CHANGED;
    changed_calls(&shown, target, &mut all, most);
    typical_calls(&called, &parameters, &shown, &mut all);
    if all.all.is_empty() {
        return Err(format!("{} cannot be called: nothing says what it takes", target.name));
    }
    Ok(all.all)
}

/// The function as calls name it.
fn called(target: &Target) -> Result<Called, String> {
    let mut parts: Vec<&str> = target.name.split('.').collect();
    let name = parts.pop().unwrap_or_default().to_owned();
    let around = target.around().iter().filter_map(|head| target.text.get(head.clone()));
    let heads: Vec<&str> = around.map(str::trim_start).collect();
    let is_class = |head: &&str| head.starts_with("class ") || head.starts_with("export ") || head.starts_with('@');
    if !heads.iter().all(is_class) || parts.len() > 1 {
        return Err(format!("{} stands inside another function and cannot be called on its own", target.name));
    }
    let head = target.text.get(target.function.start..target.body.start).unwrap_or_default();
    let is_static = head.lines().any(|line| line.trim_start().starts_with("static "));
    Ok(Called { language: target.language, name, class: parts.pop().map(str::to_owned), is_static })
}

/// The calls in the texts of the user, those with literal arguments first.
fn shown_calls(target: &Target, called: &Called, head: &str, tests: &[String]) -> Vec<Call> {
    let is_literal = |call: &Call| call.arguments.iter().all(|argument| !argument.value.has_other());
    let documented = called.calls(head);
    let elsewhere = tests.iter().chain([&target.text]).flat_map(|text| called.calls(text));
    // The code elsewhere has values of its own; what it states are no results of a reader's.
    let elsewhere = elsewhere.filter(is_literal).map(|call| Call { result: None, ..call });
    let mut all: Vec<Call> = documented.into_iter().chain(elsewhere).collect();
    all.sort_by_key(|call| !is_literal(call));
    all
}

/// The parameters of a head, without those that collect others and the object of a method.
fn parameters(language: Language, head: &str, name: &str) -> Option<Vec<Parameter>> {
    let all = signature(language, head, name)?;
    let one = |(place, text): (usize, &str)| {
        let text = text.trim_start_matches("public ").trim_start_matches("private ").trim_start_matches("readonly ");
        let (declared, default) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.trim())));
        let (name, annotation) = declared.split_once(':').map_or((declared, None), |(name, kind)| (name, Some(kind)));
        let is_optional = name.trim_end().ends_with('?');
        let name = name.trim().trim_end_matches('?');
        let is_plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
        let is_object = place == 0 && ["self", "cls", "this"].contains(&name);
        let of_default = default.and_then(|text| literal(text, language)).map(|(value, _)| Kind::of(&value));
        let annotation = annotation.or_else(|| documented(head, name));
        let kind = annotation.map(Kind::of_annotation).unwrap_or_default().or(of_default.unwrap_or_default());
        let has_default = default.is_some() || is_optional;
        (is_plain && !is_object).then(|| Parameter { name: name.to_owned(), kind, has_default })
    };
    // Behind `*` parameters have to be named.
    let all = all.into_iter().take_while(|part| !part.starts_with('*') && !part.starts_with("..."));
    Some(all.enumerate().filter_map(one).collect())
}

/// The parameters of a head as they are written.
fn signature<'a>(language: Language, head: &'a str, name: &str) -> Option<Vec<&'a str>> {
    let rest = |at: usize| head[at + name.len()..].trim_start();
    let at = if language == Language::Python {
        head.match_indices(name).find(|(at, _)| rest(*at).starts_with(['(', '<']))?.0
    } else {
        // It comes last, under the documentation. The function may have its name from a variable.
        let is_inner = |c: char| c.is_alphanumeric() || "_$".contains(c);
        let is_head =
            |(at, _): &(usize, &str)| !head[..*at].ends_with(is_inner) && rest(*at).starts_with(['(', '<', '=', ':']);
        head.rmatch_indices(name).find(is_head)?.0
    };
    if let Some(open) = head[at..].find('(') {
        return Some(parts(head, at + open + 1, language));
    }
    // `f = x => {`
    let (before, _) = head[at..].split_once("=>")?;
    Some(before.split_whitespace().next_back().into_iter().collect())
}

/// The type of a parameter in the documentation of a head: `@param {number[]} name`.
fn documented<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.split("@param").skip(1).find_map(|text| {
        let (kind, rest) = text.trim_start().strip_prefix('{')?.split_once('}')?;
        let rest = rest.trim_start().trim_start_matches('[').strip_prefix(name)?;
        let is_it = !rest.starts_with(|c: char| c.is_alphanumeric() || "_$.".contains(c));
        is_it.then(|| kind.trim_matches(['?', '!', '=']))
    })
}

struct Inputs {
    language: Language,
    seen: HashSet<String>,
    all: Vec<Input>,
}

impl Inputs {
    /// Adds a call, unless it is there or there are `most`.
    fn add(&mut self, call: &Call, most: usize) {
        let one = |argument: &Argument| {
            let name = argument.name.as_ref().map(|name| format!("{name}=")).unwrap_or_default();
            name + &argument.value.written(self.language)
        };
        let arguments = call.arguments.iter().map(one).collect::<Vec<_>>().join(", ");
        let input = Input { callee: call.callee.clone(), arguments, result: call.result.clone() };
        if self.all.len() < most.min(MOST) && self.seen.insert(format!("{}({}", input.callee, input.arguments)) {
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
                all.add(&Call { callee: call.callee.clone(), arguments, result: None }, most);
            }
        }
    }
}

/// Calls with typical values of the parameters: all that must be given, now and then those with a default.
fn typical_calls(called: &Called, parameters: &[Parameter], shown: &[Call], all: &mut Inputs) {
    let callee = shown.first().map_or_else(|| called.callee(), |call| call.callee.clone());
    if parameters.is_empty() {
        return all.add(&Call { callee, arguments: Vec::new(), result: None }, MOST);
    }
    let usual = shown.iter().map(|call| call.arguments.len()).max();
    for number in 0..3 * MOST {
        let taken = parameters.iter().enumerate().filter(|(at, parameter)| {
            !parameter.has_default || usual.is_some_and(|usual| *at < usual) || number % 3 == 2
        });
        // Values of several parameters go through their lists at different speeds.
        let one = |(at, parameter): (usize, &Parameter)| Argument {
            name: None,
            value: parameter.kind.typical(if at == 0 { number } else { number / (at + 1) + 2 * at + number * at }),
        };
        let arguments: Vec<Argument> = taken.map(one).collect();
        all.add(&Call { callee: callee.clone(), arguments, result: None }, MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Place;

    fn of(text: &str, name: &str, tests: &[&str]) -> Result<Vec<String>, String> {
        let target = Target::in_text(text, Language::Python, &Place::Function(name.to_owned())).unwrap();
        let all = inputs(&target, &tests.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())?;
        let one = |input: Input| {
            format!(
                "{}({}){}",
                input.callee,
                input.arguments,
                input.result.map(|r| format!(" = {r}")).unwrap_or_default()
            )
        };
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
    fn without_calls_annotations_and_names_say_what_to_give() {
        let all = of("def f(words: list[str], *, sep=\"-\") -> str:\n    pass\n", "f", &[]).unwrap();
        assert!(
            all.contains(&"f([])".to_owned()) && all.contains(&"f([\"a\", \"abc\", \"hello world\"])".to_owned()),
            "{all:?}"
        );
        let all = of("class A:\n    def f(self, n, s='x'):\n        pass\n", "A.f", &[]).unwrap();
        assert!(all[0].starts_with("A().f(0") && all.iter().any(|input| input.contains(", \"")), "{all:?}");
        assert_eq!(of("def f():\n    pass\n", "f", &[]).unwrap(), ["f()"]);
        let error = of("def f():\n    def g(x):\n        pass\n    return g\n", "f.g", &[]).unwrap_err();
        assert!(error.contains("f.g stands inside another function"), "{error}");
    }

    #[test]
    fn javascript_functions_are_called_by_their_signatures() {
        let of = |language, text: &str, name: &str| -> Vec<String> {
            let target = Target::in_text(text, language, &Place::Function(name.to_owned())).unwrap();
            let all = inputs(&target, &[]).unwrap();
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
        let text = "class Stats {\n  static of(text) {\n  }\n  top(k) {\n  }\n}\n";
        assert!(script(text, "Stats.of")[0].starts_with("Stats.of(\""), "{:?}", script(text, "Stats.of"));
        assert!(script(text, "Stats.top")[0].starts_with("(new Stats()).top("), "{:?}", script(text, "Stats.top"));
        let text = "export const f = (a: string[], b: Record<number, boolean>): number => {\n  return 0;\n};\n";
        let all = of(Language::TypeScript, text, "f");
        assert!(all.iter().any(|call| call.contains("[\"a\"") && call.contains("{\"")), "{all:?}");
    }
}
