//! Shared parts of languages whose tests are compiled with the code under test.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::files;
use crate::sandbox::{Ended, Limits, Run, Scratch};
use crate::trial::language::row::{Evidence, Report, TrialError, Verdict, decide};

/// Time limit for compiling.
const COMPILE_TIME: Duration = Duration::from_secs(60);

/// Most test names listed in a message about a test that does not exist.
const MOST_NAMES: usize = 8;

/// A folder of compiled packages, with this folder in it: below `cache`, where what nobody uses any more is
/// removed, or one that is removed with the scratch folder.
pub fn open_cache(cache: Option<&Path>, name: &str, inner: &str) -> io::Result<(PathBuf, Option<Scratch>)> {
    let scratch = cache.is_none().then(Scratch::new).transpose()?;
    let folder = scratch.as_ref().map(|scratch| scratch.path().to_path_buf());
    let folder = folder.or_else(|| Some(cache?.join(name))).unwrap_or_default();
    DirBuilder::new().recursive(true).mode(0o700).create(folder.join(inner))?;
    if let Some(cache) = cache {
        File::create(folder.join("used"))?.set_modified(SystemTime::now())?;
        files::sweep(cache, |folder| folder.join("used"));
    }
    // Sandbox rules need the canonical path.
    Ok((fs::canonicalize(folder)?, scratch))
}

/// Limits for a compiler, which needs more memory and time than the program it compiles.
pub fn compile_limits(limits: Limits) -> Limits {
    Limits {
        wall: limits.wall.max(COMPILE_TIME),
        memory: limits.memory.max(3 << 30),
        file: limits.file.max(512 << 20),
        ..limits
    }
}

/// The verdict of a program that could not be compiled.
pub fn not_compiled(run: Run, limits: Limits) -> Result<Verdict, TrialError> {
    let complaint = Some(complaint(&run.output).unwrap_or_else(|| "the program does not compile".to_owned()));
    let is_cut = !matches!(run.ended, Ended::Exited(_));
    let verdict = decide(&Evidence { complaint, ..Evidence::of(run, Report::Missing) }, &compile_limits(limits))?;
    Ok(if is_cut { Verdict { message: format!("compiling: {}", verdict.message), ..verdict } } else { verdict })
}

/// The line with the compiler error, and the next line if the first ends in a colon.
fn complaint(output: &str) -> Option<String> {
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    // Nothing is downloaded during a trial.
    if output.contains("module lookup disabled by GOPROXY=off") || output.contains("go: downloading ") {
        let named = |line: &str| {
            let loading = line.strip_prefix("go: downloading ").map(str::to_owned);
            let refused = || Some(line.strip_prefix("go: ")?.split_once(": module lookup")?.0.replace('@', " "));
            loading.or_else(refused)
        };
        let module = lines.clone().find_map(named).map_or("a module".to_owned(), |name| format!("the module {name}"));
        return Some(format!("{module} is not on this machine: run `go mod download` in the project"));
    }
    if output.contains("build constraints exclude all Go files") {
        let first = lines.find(|line| line.contains("exclude all")).unwrap_or_default();
        return Some(format!(
            "{first}: it may need cgo, and trials build without C; or build tags, see GOFLAGS=-tags=..."
        ));
    }
    let error = lines.clone().position(|line| line.contains("error") || is_of_go(line)).unwrap_or(0);
    let first = lines.nth(error)?;
    let next = lines.clone().next().filter(|_| first.ends_with(':'));
    let said = next.map_or_else(|| first.to_owned(), |next| format!("{first} {next}"));
    let expected = expected(lines).map(|words| format!(": {words}")).unwrap_or_default();
    let said = said + &expected;
    let is_offline = output.contains("using offline mode") || output.contains("--offline was specified");
    Some(if is_offline { format!("{said}: run `cargo fetch` in the project") } else { said })
}

/// Returns true for an error of Go's compiler, which begins with its place and need not call itself an error.
fn is_of_go(line: &str) -> bool {
    let place = line.split_once(".go:").map(|(_, place)| place);
    place.is_some_and(|place| place.starts_with(|c: char| c.is_ascii_digit()) && place.contains(": "))
}

/// The words behind `^^^^` at the place of an error of rustc, if they say what it expected. Others repeat the
/// error.
fn expected<'a>(lines: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let own = lines.take_while(|line| !line.starts_with("error") && !line.starts_with("warning"));
    let mut words = own.filter_map(|line| line.strip_prefix('|')?.rsplit_once("^ ").map(|(_, words)| words.trim()));
    words.next().filter(|words| words.starts_with("expected"))
}

/// The verdict if a test asked for by name is not in the file.
pub fn no_such_test(asked: &str, file: &Path, known: &[String]) -> Verdict {
    let more = if known.len() > MOST_NAMES { format!(" and {} more", known.len() - MOST_NAMES) } else { String::new() };
    let known = match known[..known.len().min(MOST_NAMES)].join(", ") {
        known if known.is_empty() => "no tests".to_owned(),
        known => known,
    };
    Verdict::not_run(&format!("there is no test {asked} in {}: it has {known}{more}", file.display()))
}

/// Marks a program as executable: in some tiers a linker may not change modes. Does not follow links.
pub fn make_executable(binary: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_file = fs::symlink_metadata(binary).is_ok_and(|meta| meta.is_file());
    is_file && fs::set_permissions(binary, fs::Permissions::from_mode(0o700)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_one_line_or_two() {
        let said = |output: &str| complaint(output).unwrap_or_default();
        assert_eq!(said("   Compiling a\nerror[E1]: no\n --> a.rs:1\n"), "error[E1]: no");
        let types = "error[E2]: types\n --> a.rs:2:5\n  |\n1 | fn f() -> u8 {\n  |           -- for this\n2 |     x\n  |     ^ expected `u8`, found `&u8`\n";
        assert_eq!(said(types), "error[E2]: types: expected `u8`, found `&u8`");
        assert_eq!(said("error[E1]: no\nerror[E2]: types\n  |  ^^ words\n"), "error[E1]: no", "of another error");
        assert_eq!(said("\na.go:3:1: missing return\nmore\n"), "a.go:3:1: missing return");
        let many = "./m.go:4:7: undefined: n1\n./m.go:5:7: undefined: n2\n./m.go:5:7: too many errors\n";
        assert_eq!(said(many), "./m.go:4:7: undefined: n1");
        let type_error =
            "./m.go:4:7: undefined: n1\n./m.go:9:2: cannot use err (variable of type error) as int value\n";
        assert_eq!(said(type_error), "./m.go:4:7: undefined: n1");
        assert_eq!(said("go: errors parsing go.mod:\ngo.mod:3: bad\n"), "go: errors parsing go.mod: go.mod:3: bad");
        assert_eq!(complaint("\n"), None);
        assert!(said("a.go:3:8: build constraints exclude all Go files in /x/db\n").contains("/x/db: it may need cgo"));
        let fetch = "is not on this machine: run `go mod download` in the project";
        let off = "module lookup disabled by GOPROXY=off";
        assert_eq!(
            said(&format!("go: downloading a.b/c v1\ns.go:1:2: {off}\n")),
            format!("the module a.b/c v1 {fetch}")
        );
        let read_only = "go: downloading a.b/c v1\ns.go:1:2: mkdir /go: read-only file system\n";
        assert_eq!(said(read_only), format!("the module a.b/c v1 {fetch}"));
        assert_eq!(said(&format!("go: a.b/c@v1: {off}\n")), format!("the module a.b/c v1 {fetch}"));
        let cargo =
            "error: no matching package named `a` found\nAs a reminder, you're using offline mode (--offline)\n";
        assert_eq!(said(cargo), "error: no matching package named `a` found: run `cargo fetch` in the project");
    }
}
