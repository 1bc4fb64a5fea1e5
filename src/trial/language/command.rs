//! Tests by a command of the user's own. Its exit code is the verdict. The command itself is not examined, so
//! a pass is worth as much as the command.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::row::Context;
use crate::sandbox::{ADDRESSES, Ended, Job, Limits};
use crate::trial::judge::hashes;
use crate::trial::language::row::{Command, Evidence, Failure, Project, Report, Trial, TrialError, Verdict, decide};
use crate::untrusted::clean_line;

/// Splits a command into words as a shell does; variables, patterns and operators are ordinary text.
pub fn split(command: &str) -> Result<Vec<String>, String> {
    let backslashes = command.len() - command.trim_end_matches('\\').len();
    match shell_words::split(command) {
        Ok(words) if words.is_empty() => Err("the test command is empty: give a program and its arguments".to_owned()),
        Ok(words) if backslashes.is_multiple_of(2) => Ok(words),
        Ok(_) => Err(format!("a \\ ends the test command: {command}")),
        Err(_) => Err(format!("a quote is not closed in the test command: {command}")),
    }
}

/// Words that are a shell's own.
const OF_SHELLS: [&str; 9] = ["&&", "||", "|", "&", ";", ">", ">>", "<", "2>&1"];

/// The words of a command that is run without a shell. A part behind `&&` would never run, and the exit
/// code be that of the first.
pub fn without_shell(command: &str) -> Result<Vec<String>, String> {
    let words = split(command)?;
    let is_of_shells = |word: &&String| OF_SHELLS.contains(&word.as_str()) || word.ends_with(';');
    match words.iter().find(is_of_shells) {
        Some(word) => Err(format!(
            "the test command has `{}`, which a shell understands, and none is started: write `sh -c '…'` around it",
            clean_line(word, 40)
        )),
        None => Ok(words),
    }
}

/// Fills the placeholders `{file}`, `{dir}`, `{function}` and `{line}`.
fn fill(word: &str, values: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut rest = word;
    while let Some(at) = rest.find('{') {
        let found = values.iter().find(|(name, _)| rest[at..].starts_with(name));
        filled.push_str(&rest[..at]);
        let length = found.map_or(1, |(name, _)| name.len());
        filled.push_str(found.map_or("{", |(_, value)| value));
        rest = &rest[at + length..];
    }
    filled + rest
}

/// Tools that a command may use: folders of programs for its PATH, and the files they read.
#[derive(Clone, Debug, Default)]
pub struct Toolbox {
    /// Folders of programs.
    pub path: Vec<PathBuf>,
    /// Files and folders to read.
    pub readable: Vec<PathBuf>,
    /// Variables that name packages.
    pub environment: Vec<(OsString, OsString)>,
}

/// System folders of programs.
const SYSTEM: &[&str] = &["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// Runs the command with the candidate in a copy of its project, or alone in a folder.
pub fn run(
    at: &Context,
    toolbox: &Toolbox,
    command: &Command,
    trial: &Trial,
    project: Option<&Project>,
) -> Result<Verdict, TrialError> {
    let base = project.map(|project| at.projects.base(project)).transpose()?;
    let project = project.zip(base.as_deref());
    let copied = project.map(|(project, base)| base.copy(project, Some(&trial.program)));
    let copy = copied.transpose().map_err(TrialError::Sandbox)?;
    let (file, folder, files) = if let (Some(copy), Some((project, _))) = (&copy, project) {
        (copy.path().join(&project.file), Some(copy.path().join(&project.package)), Vec::new())
    } else {
        let name = PathBuf::from(command.file.file_name().unwrap_or("candidate".as_ref()));
        (name.clone(), None, vec![(name, trial.program.clone().into_bytes())])
    };
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let values = [
        ("{file}", file.display().to_string()),
        ("{dir}", parent.display().to_string()),
        ("{function}", trial.function().unwrap_or_default().to_owned()),
        ("{line}", command.line.map(|line| line.to_string()).unwrap_or_default()),
    ];
    let words: Vec<String> = command.words.iter().map(|word| fill(word, &values)).collect();
    let path: Vec<PathBuf> = toolbox.path.iter().cloned().chain(SYSTEM.iter().map(PathBuf::from)).collect();
    let mut readable = toolbox.readable.clone();
    readable.extend(copy.iter().flat_map(|copy| copy.readable.clone()));
    let program = resolve(&words[0], folder.as_deref(), &path, &mut readable)?;
    let writable: Vec<PathBuf> = copy.iter().map(|copy| copy.path().to_path_buf()).collect();
    // A command may run a whole build.
    let limits =
        Limits { file: trial.limits.file.max(512 << 20), memory: trial.limits.memory.max(2 << 30), ..trial.limits };
    let mut environment: Vec<(OsString, OsString)> =
        vec![("OPENSSL_CONF".into(), "/dev/null".into()), hashes(at.hashes)];
    environment.extend(toolbox.environment.iter().cloned());
    environment.extend(env::join_paths(&path).ok().map(|path| ("PATH".into(), path)));
    let job = Job {
        readable: &readable,
        writable: &writable,
        folder: folder.as_deref(),
        files,
        environment,
        // It may be one of node.
        addresses: ADDRESSES,
        ..Job::new(&program, words[1..].iter().map(OsString::from).collect(), limits)
    };
    let run = at.run(job)?;
    let shown = clean_line(&command.words.join(" "), 80);
    let failure = match run.ended {
        Ended::Exited(code) if code != 0 => {
            let why = clean_line(telling_line(&run.output), 200);
            Some(Failure::Said(format!("`{shown}` ended with exit code {code}: {why}")))
        }
        _ => None,
    };
    let changed = project.zip(copy.as_ref()).and_then(|((project, base), copy)| base.changed(project, copy));
    let report = Report::ExitCode(format!("`{shown}` ended with exit code 0"));
    Ok(decide(&Evidence { failure, changed, ..Evidence::of(run, report) }, &limits)?.by(&shown))
}

/// Beginnings of lines by which runners name a test that failed, or an error.
const FAILURES: &[&str] = &[
    "not ok", "FAIL", "--- FAIL", "\u{2716}", "\u{2717}", "\u{2718}", "\u{d7}", "AssertionError", "Error:", "error:",
    "error[",
];

/// The line of an output that tells why the command failed: the first of a failure, else the last one.
fn telling_line(output: &str) -> &str {
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    let tells = |line: &&str| FAILURES.iter().any(|begin| line.starts_with(begin));
    lines.clone().find(tells).or_else(|| lines.next_back()).unwrap_or_default()
}

/// The program of a command: a path in the project, or a name in the trial's PATH or in the user's.
fn resolve(
    word: &str,
    folder: Option<&Path>,
    path: &[PathBuf],
    readable: &mut Vec<PathBuf>,
) -> Result<PathBuf, TrialError> {
    // As a shell has it; no shell is started here.
    let is_variable = word.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains('/'));
    let instead = if is_variable {
        "begin the command with `env` to set a variable"
    } else {
        "give a name in PATH, or a path in the project"
    };
    let missing = || {
        let word = clean_line(word, 100);
        TrialError::Interpreter(format!("the test command's program {word} was not found: {instead}"))
    };
    if word.contains('/') {
        let program = folder.map_or_else(|| PathBuf::from(word), |folder| folder.join(word));
        if folder.is_none() && program.is_absolute() {
            readable.push(program.clone());
        }
        return if program.is_file() { Ok(program) } else { Err(missing()) };
    }
    if let Some(program) = path.iter().map(|folder| folder.join(word)).find(|program| program.is_file()) {
        return Ok(program);
    }
    let users = env::var_os("PATH").unwrap_or_default();
    let mut found = env::split_paths(&users).filter(|folder| folder.is_absolute()).map(|folder| folder.join(word));
    let program = found.find(|program| program.is_file()).ok_or_else(missing)?;
    readable.extend(std::fs::canonicalize(&program).ok());
    readable.push(program.clone());
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_taken_apart_as_a_shell_does() {
        let words = |text| split(text).unwrap();
        assert_eq!(words("pytest -q {file}"), ["pytest", "-q", "{file}"]);
        assert_eq!(
            words(" sh -c 'a b; \"c\"' \"d \\\"e\\\" \\n\" f\\ g '' x'y'z "),
            ["sh", "-c", "a b; \"c\"", "d \"e\" \\n", "f g", "", "xyz"]
        );
        for bad in ["", "  ", "a 'b", "a \"b", "a \\"] {
            assert!(split(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_command_for_a_shell_is_refused() {
        for command in ["true && false", "make; ls", "a || b", "npm test 2>&1", "a > b"] {
            assert!(without_shell(command).unwrap_err().contains("write `sh -c '…'` around it"), "{command}");
        }
        assert_eq!(without_shell("sh -c 'true && false; ls'").unwrap(), ["sh", "-c", "true && false; ls"]);
    }

    #[test]
    fn the_line_of_the_first_failure_tells_why() {
        for (output, line) in [
            ("# a\nok 1 - a\nnot ok 2 - b\n  ---\n# fail 1\n# time=68.702ms\n", "not ok 2 - b"),
            ("  FAIL  scalars\n    x\n\n  Duration: 17.67ms\n", "FAIL  scalars"),
            (" \u{2716} adds (1 ms)\n\n 1 failed\n", "\u{2716} adds (1 ms)"),
            ("a\nno errors but this\n\n", "no errors but this"),
            ("", ""),
        ] {
            assert_eq!(telling_line(output), line);
        }
    }

    #[test]
    fn a_variable_in_front_of_a_command_is_set_by_env() {
        let said = |word: &str| resolve(word, None, &[], &mut Vec::new()).unwrap_err().to_string();
        assert!(said("A=b").contains("begin the command with `env`"), "{}", said("A=b"));
        assert!(said("no-such-program").contains("give a name in PATH"));
    }

    #[test]
    fn places_are_filled_once_and_unknown_ones_stay() {
        let values = [("{file}", "a {line} b.py".to_owned()), ("{line}", "7".to_owned())];
        assert_eq!(fill("{file}:{line}{other}{", &values), "a {line} b.py:7{other}{");
    }
}
