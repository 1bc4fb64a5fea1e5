//! The rules of a program on macOS, as a profile for `sandbox-exec`: everything not named is denied.
//!
//! The text is made by a pure function, which is tested everywhere. It has not been tried on a Mac. If the
//! probe at start fails, there is no isolation, and the user is asked first.

use std::path::{Path, PathBuf};

/// Folders and files that programs need to start.
const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/System", "/Library/Apple", "/Library/Developer", "/Library/Frameworks",
    "/private/var/db/dyld", "/dev/zero", "/dev/random", "/dev/urandom",
];

/// The profile: reads the system and `readable`, writes `scratch` and `writable`, has no network, and signals
/// no process outside.
pub fn profile(readable: &[PathBuf], writable: &[PathBuf], scratch: &Path) -> String {
    let list = |paths: &mut dyn Iterator<Item = &Path>| -> String {
        paths.flat_map(|path| [" (subpath ".to_owned(), quoted(path), ")".to_owned()]).collect()
    };
    let read = list(&mut SYSTEM.iter().map(Path::new).chain(readable.iter().map(PathBuf::as_path)));
    let write = list(&mut std::iter::once(scratch).chain(writable.iter().map(PathBuf::as_path)));
    format!(
        "(version 1)\n\
         (deny default)\n\
         (deny network*)\n\
         (allow process-fork)\n\
         (allow signal (target same-sandbox))\n\
         (allow sysctl-read)\n\
         (allow file-read-metadata)\n\
         (allow file-read* (literal \"/\"){read}{write})\n\
         (allow process-exec{read}{write})\n\
         (allow file-read* file-write-data (literal \"/dev/null\"))\n\
         (allow file-write*{write})\n\
         (deny file-write-setugid)\n"
    )
}

/// A path as a string of the profile's language.
fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for c in path.to_string_lossy().chars() {
        if matches!(c, '"' | '\\') {
            text.push('\\');
        }
        text.push(c);
    }
    text + "\""
}

#[cfg(target_os = "macos")]
mod mac {
    use std::ffi::OsString;
    use std::fs;
    use std::path::Path;
    use std::sync::atomic::AtomicBool;

    use super::super::scratch::Scratch;
    use super::super::{Ended, Job, Limits, Sandbox};

    /// With its full path: an entry of PATH could belong to anyone.
    const LAUNCHER: &str = "/usr/bin/sandbox-exec";

    /// Makes a job start inside its profile.
    pub fn wrap(job: &mut Job, scratch: &Path) {
        let profile = super::profile(job.readable, job.writable, scratch);
        let program = job.program.as_os_str().to_owned();
        let first = [OsString::from("-p"), profile.into(), program];
        job.arguments.splice(0..0, first);
        job.program = Path::new(LAUNCHER);
    }

    /// Tries to read and write outside. `sandbox` is one that wraps.
    pub fn prove(sandbox: &Sandbox) -> Result<(), String> {
        let text = |error: std::io::Error| format!("the sandbox could not be tried: {error}");
        let outside = Scratch::new().map_err(text)?;
        let secret = outside.path().join("secret");
        fs::write(&secret, "secret").map_err(text)?;
        let script = "/bin/cat \"$1/secret\" >/dev/null 2>&1 && exit 3; (: > \"$1/made\") 2>/dev/null && exit 4; : > mine || exit 5; exit 0";
        let arguments = ["-c", script, "sh"].map(OsString::from).into_iter().chain([outside.path().into()]).collect();
        let job = Job::new(Path::new("/bin/sh"), arguments, Limits::default());
        match sandbox.run(job, &AtomicBool::new(false))?.ended {
            Ended::Exited(0) => Ok(()),
            Ended::Exited(3) => Err("in its attack a file of the user could be read".to_owned()),
            Ended::Exited(4) => Err("in its attack a file could be made outside".to_owned()),
            ended => Err(format!("its attack failed ({ended:?})")),
        }
    }
}
#[cfg(target_os = "macos")]
pub use mac::{prove, wrap};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_denied_but_what_is_named() {
        let profile = profile(&["/opt/py".into()], &["/tmp/copy".into()], Path::new("/tmp/own"));
        let lines: Vec<&str> = profile.lines().collect();
        assert_eq!(lines[..3], ["(version 1)", "(deny default)", "(deny network*)"]);
        let line = |start: &str| lines.iter().find(|line| line.starts_with(start)).unwrap();
        assert_eq!(*line("(allow file-write*"), "(allow file-write* (subpath \"/tmp/own\") (subpath \"/tmp/copy\"))");
        assert!(line("(allow file-read* (literal \"/\")").contains("(subpath \"/opt/py\")"));
        assert!(
            !profile.contains("network-outbound") && !profile.contains("mach-lookup") && !profile.contains("/Users")
        );
        assert_eq!(profile.matches('(').count(), profile.matches(')').count());
    }

    #[test]
    fn a_path_cannot_end_its_string() {
        let profile = profile(&["/opt/a\"b\\c".into()], &[], Path::new("/tmp/own"));
        assert!(profile.contains(r#"(subpath "/opt/a\"b\\c")"#));
    }
}
