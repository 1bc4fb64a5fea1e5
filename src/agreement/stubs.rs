//! Objects that a function works with, whose class nobody knows: a client, a connection, a logger. In their
//! place stands one that says what was asked of it (`trial::STUB_MAKER`).

use super::kind::Kind;
use super::uses::Uses;
use crate::code;
use crate::trial::STUB_MAKER;

/// Last words of names of such objects.
const COLLABORATORS: &[&str] = &[
    "client", "session", "repo", "repository", "db", "database", "conn", "connection", "cursor", "service", "api",
    "http", "logger", "gateway", "mailer", "notifier", "publisher", "producer", "bus", "redis", "browser", "res",
    "response", "socket", "ws", "transport", "s3", "smtp",
];

fn is_one(name: &str) -> bool {
    code::words_of_names(name).last().is_some_and(|word| COLLABORATORS.contains(&word.as_str()))
}

/// The stubs in the place of an object with such a name: one whose calls give something, and one whose calls
/// give nothing.
pub fn named(name: &str) -> Option<Kind> {
    is_one(name).then(|| Kind::OneOf(vec![format!("{STUB_MAKER}({name:?})"), format!("{STUB_MAKER}({name:?}, 0)")]))
}

/// The stub in the place of a parameter of no known kind, of which candidates read something.
pub fn in_place(name: &str, uses: &Uses) -> Option<Kind> {
    named(name).filter(|_| uses.read_of(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Language;

    #[test]
    fn objects_that_nobody_knows_stand_where_something_is_read_of_them() {
        let of = |name: &str, body: &str| in_place(name, &Uses::new(Language::Python, &[body], Vec::new()));
        let get = "    return http_client.get(url).json()\n";
        assert_eq!(of("http_client", get), named("http_client"));
        assert_eq!(of("http_client", "    return http_client + 1\n"), None);
        assert_eq!(of("url", "    return url.strip()\n"), None);
        let both = ["a_stub(\"repo\")", "a_stub(\"repo\", 0)"].map(str::to_owned);
        assert_eq!((named("repo"), named("size")), (Some(Kind::OneOf(both.into())), None));
    }
}
