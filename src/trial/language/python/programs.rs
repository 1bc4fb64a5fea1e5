//! The Python program that runs inside the sandbox: joined from parts of the driver, and started.

use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::sandbox::{Job, Limits};
use crate::trial::language::row::{Tool, driver};
use crate::untrusted::clean_line;

/// A program made of parts of the driver, in this order.
macro_rules! program {
    ($($part:literal)*) => {
        concat!($(include_str!(concat!("driver/", $part, ".py")), "\n",)* "main()\n")
    };
}

/// The driver: the process with the tests and the code.
pub const DRIVER: &str =
    program!("begin" "enter" "module" "ignored" "loose" "stand_in" "examples" "unit" "pytest" "run");
/// The observer: the process that calls the function.
pub const OBSERVER: &str = program!("begin" "enter" "module" "observe");

/// Compiles a program once, since compiling takes as long as starting the interpreter. The output is ten
/// digits of length and the code.
const COMPILER: &str = "import sys, marshal\n\
    code = marshal.dumps(compile(sys.stdin.buffer.read(), '<driver>', 'exec', 0, True))\n\
    sys.stdout.buffer.write(b'%010d' % len(code) + code)";

/// Reads the compiled driver from the request pipe (ten digits of length, then the code) and runs it in a
/// dictionary that no module refers to, with builtins of its own. The current folder is removed from the
/// search path first.
const STARTER: &str = "import sys, builtins, os, marshal\n\
    sys.path[:] = [p for p in sys.path if p]\n\
    with open(int(sys.argv[1]), 'rb', 0, closefd=False) as pipe:\n    \
        size, code = int(pipe.read(10)), b''\n    \
        while len(code) < size:\n        \
            code += pipe.read(size - len(code)) or sys.exit('the driver did not come through')\n\
    exec(marshal.loads(code), {'__name__': 'driver', '__builtins__': dict(vars(builtins))})";

/// A program compiled for a Python, as the starter reads it, or a sentence why that failed.
pub fn compile(python: &Tool, program: &str) -> Result<Vec<u8>, String> {
    let name = python.program.display();
    let compile = || {
        let mut child = Command::new(&python.program)
            .args(["-I", "-S", "-B", "-X", "utf8", "-c", COMPILER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        // It writes nothing before it has read everything. If it ends early, its output says why.
        let _ = child.stdin.take().map(|mut pipe| pipe.write_all(program.as_bytes()));
        child.wait_with_output()
    };
    let output = compile().map_err(|error| format!("{name} could not be started: {error}"))?;
    if output.status.success() && output.stdout.len() > 10 {
        return Ok(output.stdout);
    }
    let said = clean_line(&String::from_utf8_lossy(&output.stderr), 200);
    Err(format!("{name} could not read the test driver: {said}"))
}

/// A request as the programs read it: ten digits of length, then JSON.
pub fn sized(request: &impl Serialize) -> Vec<u8> {
    let json = serde_json::to_vec(request).unwrap_or_default();
    [format!("{:010}", json.len()).as_bytes(), &json].concat()
}

/// Starts a compiled program, which comes first in the request.
pub fn job(python: &Tool, request: Vec<u8>, limits: Limits) -> Job<'_> {
    // Not -I, which would also ignore PYTHONHASHSEED. The environment is fully set by us.
    let arguments = ["-s", "-B", "-X", "utf8", "-c", STARTER].map(OsString::from).to_vec();
    Job { readable: &python.readable, ..driver(&python.program, arguments, request, limits) }
}
