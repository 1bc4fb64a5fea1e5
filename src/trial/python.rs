//! Python: where its interpreter is, and what it is given to run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use super::{Tests, Trial};

/// The test driver, a Python program.
pub const DRIVER: &str = include_str!("driver.py");

/// Options of the interpreter: no user site, no environment, no bytecode, UTF-8.
pub const OPTIONS: [&str; 4] = ["-I", "-B", "-X", "utf8"];

/// An interpreter, resolved through version managers' shims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Python {
    /// The real binary.
    pub binary: PathBuf,
    /// Folders it reads its library from.
    pub folders: Vec<PathBuf>,
}

const QUESTION: &str = "import sys, sysconfig, json; p = sysconfig.get_paths(); \
     print(json.dumps([sys.version_info[:2], sys.executable, [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix], \
     [p['stdlib'], p['platstdlib'], p['purelib'], p['platlib']]]))";

impl Python {
    /// The first `python3` of PATH, if it is 3.8 or later.
    pub fn find() -> Option<Self> {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|dir| dir.join("python3")).filter(|p| p.is_file()).find_map(|p| Self::ask(&p))
    }

    /// Asks an interpreter where it lives.
    fn ask(program: &Path) -> Option<Self> {
        let out = Command::new(program)
            .args(["-I", "-S", "-B", "-c", QUESTION])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()
            .filter(|out| out.status.success())?;
        let (version, binary, prefixes, library): ([u32; 2], PathBuf, Vec<PathBuf>, Vec<PathBuf>) =
            serde_json::from_slice(&out.stdout).ok()?;
        if version < [3, 8] {
            return None;
        }
        let home = directories::BaseDirs::new().map(|d| d.home_dir().to_owned());
        // A whole prefix, unless that would open the root or the home folder.
        let mut folders: Vec<PathBuf> = prefixes
            .into_iter()
            .filter(|p| p.parent().is_some() && home.as_ref().is_none_or(|h| !h.starts_with(p)))
            .chain(library)
            .chain(binary.parent().map(Path::to_owned))
            .chain(binary.canonicalize().ok().and_then(|b| b.parent().map(Path::to_owned)))
            .filter(|p| p.is_dir())
            .collect();
        folders.sort();
        folders.dedup();
        Some(Self { binary, folders })
    }
}

/// The driver's task, as JSON.
pub fn task(trial: &Trial, nonce: &str) -> Vec<u8> {
    let tests = match &trial.tests {
        Tests::Doctest { source } => json!({ "kind": "doctest", "source": source }),
        Tests::Source { name, text } => json!({ "kind": "source", "name": name, "text": text }),
    };
    let task = json!({
        "nonce": nonce,
        "program": trial.program,
        "module": trial.module,
        "entry_point": trial.entry_point,
        "tests": tests,
    });
    task.to_string().into_bytes()
}

/// Compiles the text on descriptor 3 and reports the syntax error, if there is one.
pub const SYNTAX_CHECK: &str = include_str!("syntax_check.py");

/// Tries what must not work inside the sandbox and reports what did: reading and writing outside, opening sockets.
pub const PROBE: &str = include_str!("probe.py");
