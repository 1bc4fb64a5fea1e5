//! Heads of which one gathers arguments (`*args`, `**kwargs`, `...rest`) and the other one names them.

use super::parameter::{Gathers, Parameter};
use super::statement::Statement;
use crate::language::Language;

/// The parameters of another head of JavaScript where one gathers arguments. `None` if the file's do not give
/// them all.
pub fn gathered_script(language: Language, own: &[Parameter], new: &[Parameter]) -> Option<Vec<Statement>> {
    let of_own: Vec<&str> = own.iter().map(|own| &*own.pattern).collect();
    let at = own.iter().zip(new).take_while(|(own, new)| own.gathers == new.gathers).count();
    let mut statements: Vec<Statement> = Vec::new();
    for (own, new) in own.iter().zip(new).take(at) {
        let is_other = |name: &str| own.pattern == new.pattern || !of_own.contains(&name);
        statements.extend(new.of(own, language, &is_other));
    }
    let (own, new) = (&own[at..], &new[at..]);
    let values: Option<Vec<String>> = own.iter().map(|own| own.given(language)).collect();
    if new.is_empty() {
        return Some(statements);
    }
    let written = |new: &Parameter| {
        let dots = if new.gathers == Gathers::Rest { "..." } else { "" };
        let default = new.default.as_ref().filter(|_| dots.is_empty());
        let default = default.filter(|value| *value != "undefined").map(|value| format!(" = {value}"));
        format!("{dots}{}{}", new.pattern, default.unwrap_or_default())
    };
    let names = new.iter().flat_map(|new| new.names(language)).collect::<Vec<_>>();
    if own.is_empty() && new.iter().all(|new| new.default.is_some()) {
        statements.extend(new.iter().filter_map(|new| new.added(language)));
        return Some(statements);
    }
    let (pattern, value) = match (own, new) {
        ([own], _) if own.gathers == Gathers::Rest => {
            (format!("[{}]", new.iter().map(written).collect::<Vec<_>>().join(", ")), own.pattern.clone())
        }
        (_, [rest]) if rest.gathers == Gathers::Rest => (rest.pattern.clone(), format!("[{}]", values?.join(", "))),
        (own, _) if own.last()?.gathers == Gathers::Rest || new.last()?.gathers == Gathers::Rest => (
            format!("[{}]", new.iter().map(written).collect::<Vec<_>>().join(", ")),
            format!("[{}]", values?.join(", ")),
        ),
        _ => return None,
    };
    statements.push(Statement::new("let", &pattern, &value, names));
    Some(statements)
}

/// The parameters of another head of Python where one gathers arguments. `None` if the file's do not give them
/// all.
pub fn gathered_python(own: &[Parameter], new: &[Parameter]) -> Option<Vec<Statement>> {
    let plain = |all: &[Parameter], is_keyword: bool| -> Vec<Parameter> {
        let is_plain = |one: &&Parameter| one.gathers == Gathers::Nothing && one.is_keyword == is_keyword;
        all.iter().filter(is_plain).cloned().collect()
    };
    let gathers =
        |all: &[Parameter], what: Gathers| all.iter().find(|one| one.gathers == what).map(|one| one.pattern.clone());
    let (own_rest, own_named) = (gathers(own, Gathers::Rest), gathers(own, Gathers::Named));
    let (mut places, mut keywords) = (plain(own, false).into_iter(), plain(own, true));
    // Statements at once: a name may be that of another parameter of the file.
    let mut pairs: Vec<(String, String)> = Vec::new();
    let mut of_rest = 0;
    let named = |new: &Parameter| {
        let default = new.default.as_ref();
        let of_named = |named: &String| match default {
            Some(default) => format!("{named}.get(\"{}\", {default})", new.pattern),
            None => format!("{named}[\"{}\"]", new.pattern),
        };
        own_named.as_ref().map(of_named).or_else(|| default.cloned())
    };
    for new in plain(new, false) {
        let value = if let Some(own) = places.next() {
            own.pattern
        } else if let Some(at) = keywords.iter().position(|own| own.pattern == new.pattern) {
            keywords.remove(at).pattern
        } else if let Some(rest) = &own_rest {
            of_rest += 1;
            match &new.default {
                Some(default) => format!("{rest}[{}] if len({rest}) >= {of_rest} else {default}", of_rest - 1),
                None => format!("{rest}[{}]", of_rest - 1),
            }
        } else {
            named(&new)?
        };
        pairs.push((new.pattern, value));
    }
    for new in plain(new, true) {
        let value = if let Some(at) = keywords.iter().position(|own| own.pattern == new.pattern) {
            keywords.remove(at).pattern
        } else if let Some(at) = places.as_slice().iter().position(|own| own.pattern == new.pattern) {
            let mut left: Vec<Parameter> = places.collect();
            let value = left.remove(at).pattern;
            places = left.into_iter();
            value
        } else {
            named(&new)?
        };
        pairs.push((new.pattern, value));
    }
    if let Some(rest) = gathers(new, Gathers::Rest) {
        let of_own = own_rest.map(|own| if of_rest > 0 { format!("{own}[{of_rest}:]") } else { own });
        let given: Vec<String> = places.map(|own| own.pattern).collect();
        let value = match of_own {
            Some(own) if given.is_empty() => own,
            Some(own) => format!("({}, *{own})", given.join(", ")),
            None if given.len() == 1 => format!("({},)", given[0]),
            None => format!("({})", given.join(", ")),
        };
        pairs.push((rest, value));
    }
    if let Some(all) = gathers(new, Gathers::Named) {
        let given = keywords.iter().map(|own| format!("\"{0}\": {0}", own.pattern));
        let given: Vec<String> = given.chain(own_named.iter().map(|own| format!("**{own}"))).collect();
        let value = match own_named {
            Some(own) if keywords.is_empty() => own,
            _ => format!("{{{}}}", given.join(", ")),
        };
        pairs.push((all, value));
    }
    pairs.retain(|(name, value)| name != value);
    Some(pairs.into_iter().map(|(name, value)| Statement::new("", &name, &value, vec![name.clone()])).collect())
}
