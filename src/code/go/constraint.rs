//! Selects the files that Go builds here, by the system and processor at the end of their names and by the
//! constraints in front of the package clause.

/// Systems and processors that the end of a file name may stand for.
const SYSTEMS: &[&str] = &[
    "aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "linux", "netbsd", "openbsd", "plan9",
    "solaris", "wasip1", "windows",
];
const PROCESSORS: &[&str] = &[
    "386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le", "riscv64",
    "s390x", "wasm",
];

/// The constraint that keeps a file from being built here, in words. `minor`: the newest Go 1.x that counts.
/// `tags`: those of the user.
pub fn unmet_go_constraint(stem: &str, text: &str, minor: u32, tags: &[String]) -> Option<String> {
    let is_met = |tag: &str| holds(tag, minor) || tags.iter().any(|own| own == tag);
    let parts: Vec<&str> = stem.strip_suffix("_test").unwrap_or(stem).split('_').skip(1).collect();
    let of_name = match parts[..] {
        [.., system, processor] if SYSTEMS.contains(&system) && PROCESSORS.contains(&processor) => {
            &parts[parts.len() - 2..]
        }
        [.., last] if SYSTEMS.contains(&last) || PROCESSORS.contains(&last) => &parts[parts.len() - 1..],
        _ => &[],
    };
    if let Some(tag) = of_name.iter().find(|tag| !is_met(tag)) {
        return Some(format!("its name says that it is for {tag} alone"));
    }
    constraint(text)
        .filter(|constraint| !Expression::value(constraint, &is_met))
        .map(|constraint| format!("it asks for the build tags {constraint}, and GOFLAGS=-tags=... sets none of them"))
}

/// Returns true if Go sets this tag here by itself.
fn holds(tag: &str, minor: u32) -> bool {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "x86" => "386",
        "aarch64" => "arm64",
        other => other,
    };
    let version = || tag.strip_prefix("go1.").and_then(|minor| minor.parse::<u32>().ok());
    [system, processor, "gc", "unix"].contains(&tag) || version().is_some_and(|version| version <= minor)
}

/// The build constraint of a file.
fn constraint(text: &str) -> Option<String> {
    let (mut older, mut is_comment) = (Vec::new(), false);
    for line in text.lines().map(str::trim) {
        if is_comment || line.starts_with("/*") {
            is_comment = !line.contains("*/");
            continue;
        }
        let Some(comment) = line.strip_prefix("//") else {
            if line.is_empty() {
                continue;
            }
            break;
        };
        if let Some(expression) = comment.strip_prefix("go:build ") {
            return Some(expression.trim().to_owned());
        }
        if let Some(words) = comment.trim_start().strip_prefix("+build ") {
            let options = words.split_whitespace().map(|option| option.replace(',', " && "));
            older.push(format!("({})", options.collect::<Vec<_>>().join(" || ")));
        }
    }
    (!older.is_empty()).then(|| older.join(" && "))
}

/// The unread rest of a constraint.
struct Expression<'a> {
    rest: &'a str,
    is_met: &'a dyn Fn(&str) -> bool,
}

impl Expression<'_> {
    /// The value of a constraint. One that cannot be read counts as met; Go decides.
    fn value(text: &str, is_met: &dyn Fn(&str) -> bool) -> bool {
        // Longer constraints do not occur in practice.
        text.len() > 1000 || Expression { rest: text, is_met }.either()
    }

    fn takes(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start();
        self.rest = rest.strip_prefix(word).unwrap_or(rest);
        self.rest.len() < rest.len()
    }

    fn either(&mut self) -> bool {
        let mut value = self.both();
        while self.takes("||") {
            value |= self.both();
        }
        value
    }

    fn both(&mut self) -> bool {
        let mut value = self.one();
        while self.takes("&&") {
            value &= self.one();
        }
        value
    }

    fn one(&mut self) -> bool {
        if self.takes("!") {
            return !self.one();
        }
        if self.takes("(") {
            let value = self.either();
            self.takes(")");
            return value;
        }
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || "_.".contains(c))).unwrap_or(self.rest.len());
        let (tag, rest) = self.rest.split_at(end);
        self.rest = rest;
        (self.is_met)(tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_mean_what_they_mean_to_go() {
        let is_met = |tag: &str| ["a", "b", "go1.2"].contains(&tag);
        for (text, value) in [
            ("a", true),
            ("!a", false),
            ("a && c", false),
            ("c || a && b", true),
            ("!(c || a) || go1.2", true),
            ("( c||!b )&&a", false),
            ("", false),
            ("((((", false),
        ] {
            assert_eq!(Expression::value(text, &is_met), value, "{text}");
        }
    }

    #[test]
    fn files_for_other_systems_and_tags_are_left_out() {
        let is_out = |stem: &str, text: &str| unmet_go_constraint(stem, text, 19, &[]).is_some();
        let tagged = "// Licence\n\n/* more\n */\n//go:build integration && !linux\n\npackage a\n";
        assert!(is_out("a_test", tagged) && is_out("a_plan9_test", "") && is_out("a_plan9_arm_test", ""));
        assert!(is_out("a_test", "// +build integration,linux darwin2\n\npackage a\n"));
        assert!(is_out("a_test", "//go:build go1.20\npackage a\n"));
        let live = "//go:build live\n\npackage a\n";
        assert!(is_out("a", live) && unmet_go_constraint("a", live, 19, &["live".to_owned()]).is_none());
        for (stem, text) in [
            ("plan9_test", ""),
            ("a_b_test", "package a\n//go:build no\n"),
            ("a_test", "//go:build go1.19 && !integration\npackage a\n"),
            ("a_test", "//go:build unix && gc\npackage a\n"),
        ] {
            assert!(!is_out(stem, text), "{stem} {text}");
        }
    }
}
