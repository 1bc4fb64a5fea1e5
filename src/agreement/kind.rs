//! Kinds of values that a parameter takes, and typical values of each.

use super::files::PATHS;
use super::links;
use super::pairs::{self, Pair};
use super::value::{Argument, CLOCK, FAILING, REJECTING, Value};
use crate::trial::CALLBACK_MAKER;

/// A kind of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Kind {
    #[default]
    Unknown,
    Bool,
    Int,
    Float,
    Text,
    List(Box<Kind>),
    Tuple(Vec<Kind>),
    /// Tuples of any length.
    Row(Box<Kind>),
    Set(Box<Kind>),
    Dict(Box<Kind>, Box<Kind>),
    Function,
    /// Functions of no arguments that return values of a kind.
    Gives(Box<Kind>),
    /// Values of a kind, or none.
    Maybe(Box<Kind>),
    /// Values of two kinds.
    Either(Box<Kind>, Box<Kind>),
    /// These expressions.
    OneOf(Vec<String>),
    /// These values first, then those of the kind.
    Told(Vec<Value>, Box<Kind>),
    /// Dictionaries with these keys.
    Fields(Vec<Parameter>),
    /// Paths, among them those of files that are made for the call.
    Path(Vec<Value>),
    /// Objects that are made of one value: `deque([1, 2])`.
    From(String, Box<Kind>),
    /// New objects of a class: what is called, and what it takes.
    New(String, Vec<Parameter>),
    /// Objects inside of others of their own class.
    Link(Box<Kind>),
    /// No further value inside of so many others.
    Nothing,
    Pair(Pair),
}

/// A parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub kind: Kind,
    pub has_default: bool,
    pub way: Way,
}

/// How an argument is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// By its place.
    #[default]
    Placed,
    /// By its name.
    Named,
    /// Any number of them, by their places.
    Rest,
}

/// Arguments of call number `number`: all that must be given, now and then those with a default. `usual` is
/// the number of arguments that calls in texts have.
pub fn arguments(parameters: &[Parameter], number: usize, usual: Option<usize>) -> Vec<Argument> {
    let taken = parameters
        .iter()
        .enumerate()
        .filter(|(at, parameter)| !parameter.has_default || usual.is_some_and(|usual| *at < usual) || number % 4 == 2);
    let mut elements = None;
    let each = taken.flat_map(|(at, parameter)| {
        // Values of several parameters go through their lists at different speeds.
        let turn = if at == 0 { number } else { number / (at + 1) + 2 * at + number * at };
        let values = match parameter.way {
            Way::Rest => parameter.kind.several(turn),
            Way::Placed | Way::Named => vec![parameter.kind.typical(turn)],
        };
        let values = match (&values[..], elements) {
            // Places and numbers of elements are mostly within.
            ([Value::Int(number)], Some(count)) if parameter.kind == Kind::Int && !turn.is_multiple_of(3) => {
                vec![Value::Int(1 + number.rem_euclid(count))]
            }
            _ => values,
        };
        elements = elements.or_else(|| values.iter().find_map(count_of));
        let name = (parameter.way == Way::Named).then(|| parameter.name.clone());
        values.into_iter().map(move |value| (parameter, Argument { name: name.clone(), value }))
    });
    let mut all: Vec<(&Parameter, Argument)> = each.collect();
    // A beginning is not above its end, but for each fourth call.
    for at in (1..all.len()).filter(|_| !number.is_multiple_of(4)) {
        if let [(first, begin), (second, end)] = &mut all[at - 1..=at]
            && pairs::are_ends(&first.name, &second.name)
            && pairs::is_above(&begin.value, &end.value)
        {
            std::mem::swap(&mut begin.value, &mut end.value);
        }
    }
    all.into_iter().map(|(_, argument)| argument).collect()
}

/// The arguments of object number `number`.
fn of_object(parameters: &[Parameter], number: usize) -> Vec<Argument> {
    if links::are_linked(parameters) {
        links::arguments(parameters, number)
    } else {
        arguments(parameters, number, None)
    }
}

/// Number of the elements of a value that has some.
fn count_of(value: &Value) -> Option<i64> {
    let count = match value {
        Value::List(all) | Value::Tuple(all) => all.len(),
        Value::Text(text) => text.chars().count(),
        // Nodes of graphs have numbers.
        Value::Dict(all) if matches!(all.first(), Some((Value::Int(_), Value::List(_)))) => all.len(),
        // Objects in one another have few values.
        Value::Made(class, _) if links::count(value, class) > 1 => links::VALUES,
        _ => 0,
    };
    i64::try_from(count).ok().filter(|&count| count > 0)
}

/// Values that come once more.
const TURNS_MORE: usize = 2;

/// Arguments of call number `number` in which each parameter has a value that was told, if it has any: the
/// first of each with the first of the others, then further ones. `None` if no parameter has any, or after the
/// last.
pub fn told_arguments(parameters: &[Parameter], number: usize) -> Option<Vec<Argument>> {
    let told = |parameter: &Parameter| if let Kind::Told(all, _) = &parameter.kind { all.len() } else { 0 };
    let is_given =
        |parameter: &&Parameter| parameter.way != Way::Rest && (!parameter.has_default || told(parameter) > 0);
    let given: Vec<&Parameter> = parameters.iter().filter(is_given).collect();
    if given.iter().all(|parameter| told(parameter) == 0) {
        return None;
    }
    let sizes: Vec<usize> = given.iter().map(|parameter| told(parameter).max(1)).collect();
    let places = places(&sizes, number)?;
    let one = |(parameter, place): (&&Parameter, usize)| {
        let value = match &parameter.kind {
            Kind::Told(all, _) if !all.is_empty() => all[place].clone(),
            kind => kind.typical(number),
        };
        Argument { name: (parameter.way == Way::Named).then(|| parameter.name.clone()), value }
    };
    Some(given.iter().zip(places).map(one).collect())
}

/// The places of combination number `number` in lists of these sizes, in the order of their largest place.
fn places(sizes: &[usize], number: usize) -> Option<Vec<usize>> {
    let mut rest = number;
    for largest in 0..sizes.iter().copied().max()? {
        let within: Vec<usize> = sizes.iter().map(|&size| size.min(largest + 1)).collect();
        for mut at in 0..within.iter().product() {
            let place = |&size: &usize| {
                let place = at % size;
                at /= size;
                place
            };
            let places: Vec<usize> = within.iter().map(place).collect();
            if places.iter().max() == Some(&largest) {
                rest = match rest.checked_sub(1) {
                    Some(rest) => rest,
                    None => return Some(places),
                };
            }
        }
    }
    None
}

/// The call by which JavaScript makes a promise of a value.
pub const PROMISE: &str = "Promise.resolve";

/// Numbers: small, negative, the edges of digits, large.
const INTS: &[i64] = &[
    0, 1, 2, 3, 10, -1, 7, 100, -5, 12, 4, 1000, 5, 9, 11, 6, 8, 16, 27, 99, 13, 64, 20, 36, 101, 15, 123, 21, 49, 30,
    -2, -10, 14, 17, 25, 31, 18, 19, 24, 28, 22, 23, 29, 26, 73, 37, 121, 50, 365, 2024,
];
const FLOATS: &[f64] = &[0.0, 1.0, 0.5, -1.5, 3.75, 2.0, 100.25, -0.1, 10.0, 1e6];
/// Texts: empty, single, repeated, a palindrome, mixed case, digits, spaces, brackets, beyond ASCII, and in
/// usual forms.
const TEXTS: &[&str] = &[
    "", "a", "abc", "hello world", "aabbcc", "Hello, World!", "racecar", "12345", "zyx", " two  spaces ", "aB3\u{e9}",
    "()", "x_y-z", "The quick brown fox", "AAA", "1,2,3", "key=value", "2024-02-29", "user@example.com", "a:1", "3.5",
    "-7", "1.2.3", "/a/b.txt", "two\nlines", "12:30",
];

impl Kind {
    /// Returns true if all values are plain ones of a known kind: numbers, texts, lists of them and the like.
    pub fn is_plain(&self) -> bool {
        match self {
            Kind::Bool | Kind::Int | Kind::Float | Kind::Text | Kind::Pair(_) => true,
            Kind::List(kind) | Kind::Row(kind) | Kind::Set(kind) | Kind::Maybe(kind) => kind.is_plain(),
            Kind::Tuple(all) => all.iter().all(Kind::is_plain),
            Kind::Dict(one, other) | Kind::Either(one, other) => one.is_plain() && other.is_plain(),
            _ => false,
        }
    }

    /// Returns true for kinds that differ in values at most.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Kind::Told(_, kind), other) | (other, Kind::Told(_, kind)) => kind.is_like(other),
            (Kind::List(one), Kind::List(other)) | (Kind::Maybe(one), Kind::Maybe(other)) => one.is_like(other),
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }

    /// The kind with changed kinds inside of it: of elements, of values, of what may be there.
    pub fn with_inside(self, change: &dyn Fn(Kind) -> Kind) -> Self {
        let within = |kind: Box<Kind>| Box::new(change(*kind));
        match self {
            Kind::List(kind) => Kind::List(within(kind)),
            Kind::Row(kind) => Kind::Row(within(kind)),
            Kind::Set(kind) => Kind::Set(within(kind)),
            Kind::Maybe(kind) => Kind::Maybe(within(kind)),
            Kind::Link(kind) => Kind::Link(within(kind)),
            Kind::Dict(key, value) => Kind::Dict(key, within(value)),
            Kind::Either(one, other) => Kind::Either(within(one), within(other)),
            Kind::Told(all, kind) => Kind::Told(all, within(kind)),
            Kind::From(callee, kind) => Kind::From(callee, within(kind)),
            kind => kind,
        }
    }

    /// The kind of a value.
    pub fn of(value: &Value) -> Self {
        let all = |values: &[Value]| Box::new(values.iter().map(Self::of).fold(Self::Unknown, Self::or));
        match value {
            Value::None | Value::Other(_) | Value::Made(..) | Value::Spelled(..) => Self::Unknown,
            Value::Function(_) => Self::Function,
            Value::Gives(value) => Self::Gives(Box::new(Self::of(value))),
            Value::Bool(_) => Self::Bool,
            Value::Int(_) => Self::Int,
            Value::Float(_) => Self::Float,
            Value::Text(_) => Self::Text,
            Value::List(values) => Self::List(all(values)),
            Value::Tuple(values) => Self::Tuple(values.iter().map(Self::of).collect()),
            Value::Set(values) => Self::Set(all(values)),
            Value::Dict(entries) => {
                let (keys, values): (Vec<_>, Vec<_>) = entries.iter().cloned().unzip();
                Self::Dict(all(&keys), all(&values))
            }
        }
    }

    /// The kind of values of both kinds, as far as one fits.
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (kind, Self::Maybe(other)) => Self::Maybe(Box::new(kind.or(*other))),
            (Self::Unknown, other)
            | (
                _,
                other @ (Self::OneOf(_)
                | Self::Path(_)
                | Self::Fields(_)
                | Self::From(..)
                | Self::New(..)
                | Self::Pair(_)
                | Self::Either(..)),
            ) => other,
            (Self::Int, Self::Float) => Self::Float,
            (Self::List(a), Self::List(b)) => Self::List(Box::new(a.or(*b))),
            (Self::Set(a), Self::Set(b)) => Self::Set(Box::new(a.or(*b))),
            (Self::Dict(a, b), Self::Dict(c, d)) => Self::Dict(Box::new(a.or(*c)), Box::new(b.or(*d))),
            (kind, _) => kind,
        }
    }

    /// The kind with these values before its own.
    pub fn told(self, mut values: Vec<Value>) -> Self {
        match self {
            kind if values.is_empty() => kind,
            Self::Told(more, kind) => {
                values.extend(more);
                Self::Told(values, kind)
            }
            kind => Self::Told(values, Box::new(kind)),
        }
    }

    /// Functions that return nothing: they are called for what they do.
    pub fn callback() -> Self {
        Self::OneOf(vec![format!("{CALLBACK_MAKER}()")])
    }

    /// The typical value of this number; they repeat after some.
    pub fn typical(&self, number: usize) -> Value {
        match self {
            Self::Function => Value::Function(number),
            Self::Gives(kind) => gives(kind, number),
            Self::Bool => Value::Bool(number.is_multiple_of(2)),
            Self::Unknown | Self::Int => Value::Int(INTS[number % INTS.len()]),
            Self::Float => Value::Float(FLOATS[number % FLOATS.len()]),
            Self::Text => Value::Text(TEXTS[number % TEXTS.len()].to_owned()),
            Self::List(kind) if matches!(**kind, Self::Fields(_)) => Value::List(alike(kind.several(number))),
            Self::List(kind) => Value::List(kind.several(number)),
            Self::Tuple(kinds) if kinds.is_empty() => Value::Tuple(Self::Int.several(number)),
            Self::Tuple(kinds) => {
                Value::Tuple(kinds.iter().enumerate().map(|(at, kind)| kind.typical(number + at)).collect())
            }
            Self::Row(kind) => Value::Tuple(kind.several(number)),
            // Every fourth is none.
            Self::Maybe(_) if number % 4 == 3 => Value::None,
            Self::Maybe(kind) => kind.typical(number - number / 4),
            Self::Either(one, other) => [one, other][number % 2].typical(number / 2),
            Self::OneOf(all) => all.get(number % all.len().max(1)).cloned().map_or(Value::None, Value::Other),
            // Each second one is of those, until all have come, the first ones again: of a further parameter
            // the turns do not begin with the first.
            Self::Told(all, kind) => {
                let turns = all.len() + TURNS_MORE.min(2 * all.len());
                if number.is_multiple_of(2) && number / 2 < turns {
                    return all[number / 2 % all.len()].clone();
                }
                kind.typical(number - turns.min(number.div_ceil(2)))
            }
            Self::Fields(fields) => {
                let names = |argument: Argument| Some((Value::Text(argument.name?), argument.value));
                Value::Dict(of_object(fields, number).into_iter().filter_map(names).collect())
            }
            // Each second one is of a file, if there are any.
            Self::Path(made) if !made.is_empty() && number.is_multiple_of(2) => made[number / 2 % made.len()].clone(),
            Self::Path(made) => {
                let number = if made.is_empty() { number } else { number / 2 };
                Value::Text(PATHS[number % PATHS.len()].to_owned())
            }
            Self::From(callee, kind) => {
                Value::Made(callee.clone(), vec![Argument { name: None, value: kind.typical(number) }])
            }
            Self::New(callee, parameters) => Value::Made(callee.clone(), of_object(parameters, number)),
            Self::Link(kind) => kind.typical(number),
            Self::Nothing => Value::None,
            Self::Pair(pair) => pair.typical(number),
            Self::Set(kind) => {
                let mut all: Vec<Value> = Vec::new();
                for one in kind.several(number) {
                    if !all.contains(&one) {
                        all.push(one);
                    }
                }
                Value::Set(all)
            }
            Self::Dict(key, value) => {
                let key = if **key == Self::Unknown { &Self::Text } else { key };
                let size = if **value == Self::Nothing { 0 } else { [0, 1, 3, 2, 4][number % 5] };
                // In each second large one some values are equal, so that ties show.
                let place = |at: usize| if size > 2 && number % 10 > 4 { at % 2 } else { at };
                let pair = |at| (key.typical(number + 2 * at + 1), value.typical(number + place(at) + 2));
                Value::Dict((0..size).map(pair).collect())
            }
        }
    }

    /// Values of a list: none, one, some, equal ones, falling, rising, negative ones alone, many.
    fn several(&self, number: usize) -> Vec<Value> {
        let at = |places: &[usize]| places.iter().map(|&at| self.typical(at)).collect();
        match number % 18 {
            _ if *self == Self::Nothing => at(&[]),
            0 => at(&[]),
            1 => at(&[2]),
            2 => at(&[1, 2, 3]),
            3 => at(&[2, 2, 1, 2]),
            4 => at(&[4, 3, 2, 1]),
            5 => at(&[5, 1, 8, 3]),
            6 => at(&[0, 0]),
            7 => at(&[7, 1, 4, 1, 6, 9, 2, 3, 11, 5]),
            8 => at(&[3, 6, 2]),
            9 => at(&[8, 5, 30]),
            10 => at(&[1, 2, 3, 10, 12, 6, 9]),
            11 => at(&[9, 2, 12, 0, 14, 3, 2, 1]),
            12 => at(&[12]),
            13 => at(&[6, 6, 10]),
            14 => at(&[5, 4, 8, 1, 30, 13]),
            15 => at(&[11, 7, 4, 2]),
            16 => at(&[2, 3, 2, 3, 2]),
            _ => at(&[15, 10, 16, 13, 2, 14, 12, 6]),
        }
    }
}

/// The function of this number that returns values of a kind. Those that return numbers may be clocks; others
/// fail now and then.
fn gives(kind: &Kind, number: usize) -> Value {
    match (kind, number % 4) {
        (Kind::Int | Kind::Float, 0 | 2) => CLOCK,
        (Kind::Int | Kind::Float, _) | (_, 0 | 2) => Value::Gives(Box::new(kind.typical(number / 2))),
        (Kind::From(callee, _), _) if callee == PROMISE => REJECTING[number / 2 % 2].clone(),
        _ => FAILING[number / 2 % 2].clone(),
    }
}

/// Objects of which each second one has a value of the one before it: that of the first field, then that of
/// the next one. Sorting and grouping by one field show so.
fn alike(mut objects: Vec<Value>) -> Vec<Value> {
    for pair in objects.chunks_exact_mut(2).enumerate() {
        if let (number, [Value::Dict(one), Value::Dict(other)]) = pair
            && one.len() == other.len()
            && one.len() > 1
        {
            let field = number % one.len();
            other[field] = one[field].clone();
        }
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    #[test]
    fn lists_have_negative_elements_alone_and_places_are_mostly_within() {
        let ints = Kind::List(Box::new(Kind::Int));
        let lists: Vec<Value> = (0..18).map(|number| ints.typical(number)).collect();
        let is_negative = |value: &Value| matches!(value, Value::Int(number) if *number < 0);
        assert!(
            lists.iter().any(|list| matches!(list, Value::List(all) if all.len() > 1 && all.iter().all(is_negative)))
        );
        assert!(lists.iter().enumerate().all(|(at, list)| !lists[..at].contains(list)), "each once: {lists:?}");
        let one = |name: &str, kind| Parameter { name: name.to_owned(), kind, ..Parameter::default() };
        let both = [one("xs", ints), one("k", Kind::Int)];
        let is_within = |number: &usize| match &arguments(&both, *number, None)[..] {
            [Argument { value: Value::List(all), .. }, Argument { value: Value::Int(k), .. }] => {
                (1..=all.len() as i64).contains(k)
            }
            _ => false,
        };
        let within = (0..50).filter(is_within).count();
        assert!((25..50).contains(&within), "{within} of 50 are within");
    }

    #[test]
    fn what_begins_is_mostly_not_above_what_ends() {
        let one = |name: &str| Parameter { name: name.to_owned(), kind: Kind::Int, ..Parameter::default() };
        let falling = |names: [&str; 2]| {
            let both = names.map(one);
            let falls = |number: &usize| match &arguments(&both, *number, None)[..] {
                [one, other] => pairs::is_above(&one.value, &other.value),
                _ => false,
            };
            (0..48).filter(falls).count()
        };
        assert!((1..12).contains(&falling(["start", "end"])) && falling(["width", "height"]) > 12);
    }

    #[test]
    fn some_dictionaries_have_equal_values() {
        let kind = Kind::Dict(Box::new(Kind::Text), Box::new(Kind::Int));
        let has_equal = |number: usize| {
            let Value::Dict(all) = kind.typical(number) else { return false };
            (1..all.len()).any(|at| all[..at].iter().any(|(_, value)| *value == all[at].1))
        };
        let equal = (0..20).filter(|number| has_equal(*number)).count();
        assert!((3..10).contains(&equal), "{equal}");
    }

    #[test]
    fn told_values_come_each_with_each() {
        let all: Vec<_> = (0..7).map(|number| places(&[3, 1, 2], number)).collect();
        let expected = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1], [2, 0, 0], [2, 0, 1]].map(|one| Some(one.to_vec()));
        assert_eq!((&all[..6], &all[6]), (&expected[..], &None));
    }

    #[test]
    fn values_of_all_kinds_come_in_turn() {
        let told =
            |kind: &Kind| (0..5).map(|number| kind.typical(number).written(Language::Python)).collect::<Vec<_>>();
        assert_eq!(told(&Kind::Maybe(Box::new(Kind::Int))), ["0", "1", "2", "None", "3"]);
        assert_eq!(told(&Kind::Either(Box::new(Kind::Int), Box::new(Kind::Text)))[..3], ["0", "\"\"", "1"]);
        let seen = Kind::Told(vec![Value::Int(70), Value::Int(80)], Box::new(Kind::Int));
        assert_eq!(told(&seen), ["70", "0", "80", "1", "70"]);
        let one = |name: &str, kind, has_default, way| Parameter { name: name.to_owned(), kind, has_default, way };
        let new = Kind::New(
            "Row".to_owned(),
            vec![one("a", Kind::Int, false, Way::Placed), one("b", Kind::Bool, true, Way::Named)],
        );
        assert_eq!(told(&new)[..3], ["Row(0)", "Row(1)", "Row(2, b=False)"]);
        let rest = [one("xs", Kind::Int, false, Way::Rest)];
        assert_eq!(arguments(&rest, 0, None).len() + arguments(&rest, 1, None).len(), 1);
        assert_eq!(arguments(&rest, 2, None).len(), 3);
        let fields = Kind::Fields(vec![one("a", Kind::Int, false, Way::Named)]);
        assert_eq!(told(&fields)[1], "{\"a\": 1}");
        let given = |kind| told(&Kind::Gives(Box::new(kind)));
        assert_eq!(given(Kind::Float)[1], "lambda: 0.0");
        assert!(given(Kind::Float)[0].contains("count("), "a clock");
        assert_eq!(given(Kind::Text)[..2], ["lambda: \"\"", "lambda *_: 1 / 0"]);
        assert!(given(Kind::Unknown)[3].ends_with("// all.pop()"), "it fails twice");
        let two = [one("a", Kind::Int, false, Way::Named), one("b", Kind::Int, false, Way::Named)];
        let objects = Kind::List(Box::new(Kind::Fields(two.to_vec()))).typical(4).written(Language::Python);
        let alike = "[{\"a\": 10, \"b\": -5}, {\"a\": 10, \"b\": 7}, {\"a\": 2, \"b\": -1}, {\"a\": 1, \"b\": -1}]";
        assert_eq!(objects, alike);
        assert_eq!(told(&Kind::From("iter".to_owned(), Box::new(Kind::List(Box::new(Kind::Int)))))[1], "iter([2])");
    }
}
