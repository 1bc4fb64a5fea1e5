//! Python: the programs that run inside the sandbox, joined from parts of the driver, and how they start.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::sandbox::{Job, Limits};
use crate::trial::language::row::{Tool, driver};
use crate::untrusted::clean_line;

/// A program made of parts of the driver, in this order.
macro_rules! program {
    ($($part:literal)*) => {
        concat!($(include_str!(concat!("driver/", $part, ".py")), "\n",)* "main()\n")
    };
}

/// One process for tests and code.
pub const SHARED: &str = program!("text" "report" "values" "rewrite" "examples" "pytests" "styles" "watch" "shared");
/// The process with the tests.
pub const JUDGE: &str = program!("text" "report" "rewrite" "examples" "pytests" "styles" "codec" "line" "standins" "judge_line" "reasons" "stub" "judge");
/// The process with the code.
pub const WORKER: &str = program!("text" "codec" "line" "worker");
/// The process with the tests of a project, and the code where it cannot be in another one.
pub const PROJECT: &str = program!("text" "codec" "line" "standins" "judge_line" "tree" "state" "reasons" "project_reasons" "project_line" "enter" "ignored" "project");
/// The process with the code of a project.
pub const PROJECT_WORKER: &str = program!("text" "codec" "line" "worker" "tree" "state" "enter" "project_worker");

/// Compiles programs once: compiling takes as long as starting the interpreter. They come in with a zero byte
/// between them; each goes out as ten digits of length and the code.
const COMPILER: &str = "import sys, marshal\n\
    for text in sys.stdin.buffer.read().split(b'\\0'):\n    \
        code = marshal.dumps(compile(text, '<driver>', 'exec', 0, True))\n    \
        sys.stdout.buffer.write(b'%010d' % len(code) + code)";

/// Reads the compiled driver from the request pipe (ten digits of length, then the code) and runs it in a
/// dictionary that no module leads to, with builtins of its own. The current folder leaves the search path
/// first.
const STARTER: &str = "import sys, builtins, os, marshal\n\
    sys.path[:] = [p for p in sys.path if p]\n\
    with open(int(sys.argv[1]), 'rb', 0, closefd=False) as pipe:\n    \
        size, code = int(pipe.read(10)), b''\n    \
        while len(code) < size:\n        \
            code += pipe.read(size - len(code)) or sys.exit('the driver did not come through')\n\
    exec(marshal.loads(code), {'__name__': 'driver', '__builtins__': dict(vars(builtins))})";

/// Programs compiled for a Python, each as the starter reads it; or the sentence why that did not work.
pub fn compile<const N: usize>(python: &Tool, programs: [&str; N]) -> Result<[Vec<u8>; N], String> {
    let name = python.program.display();
    let compile = || {
        let mut child = Command::new(&python.program)
            .args(["-I", "-S", "-B", "-X", "utf8", "-c", COMPILER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        // It writes nothing before it has read everything; one that ends early says why.
        let _ = child.stdin.take().map(|mut pipe| pipe.write_all(programs.join("\0").as_bytes()));
        child.wait_with_output()
    };
    let output = compile().map_err(|error| format!("{name} could not be started: {error}"))?;
    if !output.status.success() {
        let said = clean_line(&String::from_utf8_lossy(&output.stderr), 200);
        return Err(format!("{name} could not read the test driver: {said}"));
    }
    let mut rest = output.stdout.as_slice();
    let mut next = || {
        let (program, after) = first_program(rest)?;
        rest = after;
        Some(program.to_vec())
    };
    let compiled: Option<Vec<Vec<u8>>> = programs.iter().map(|_| next()).collect();
    let compiled = compiled.and_then(|compiled| compiled.try_into().ok());
    compiled.ok_or_else(|| format!("{name} did not give back the compiled test driver"))
}

/// Splits the first compiled program, with its length before it, from those that follow.
fn first_program(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let digits = bytes.get(..10).and_then(|digits| std::str::from_utf8(digits).ok())?;
    bytes.split_at_checked(10 + digits.parse::<usize>().ok()?)
}

/// Starts a compiled program, which comes first in the request.
pub fn job(python: &Tool, request: Vec<u8>, limits: Limits) -> Job<'_> {
    // Not -I: it would also ignore PYTHONHASHSEED, and the environment is ours from the first variable to
    // the last.
    let arguments = ["-s", "-B", "-X", "utf8", "-c", STARTER].map(OsString::from).to_vec();
    Job { readable: &python.readable, ..driver(&python.program, arguments, request, limits) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_can_be_told_apart() {
        let all = [SHARED, JUDGE, WORKER, PROJECT, PROJECT_WORKER];
        assert!(all.iter().all(|program| !program.contains('\0')));
        assert_eq!(first_program(b"0000000004codemore"), Some((&b"0000000004code"[..], &b"more"[..])));
        assert_eq!(first_program(b"0000000004cod"), None);
        assert_eq!(first_program(b"what?"), None);
    }
}
