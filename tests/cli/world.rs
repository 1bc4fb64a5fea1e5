//! A place of its own for each test: the program, its folders, and files to work on.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use assert_cmd::Command;
use bass_tui::trial::Runner;
use serde_json::Value;
use tempfile::TempDir;

/// Results of a finished program.
pub struct Done {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
    /// The object on stdout.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {:?}; stderr: {}", self.out, self.err))
    }

    /// The program must have ended with this code.
    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "stdout: {}\nstderr: {}", self.out, self.err);
        self
    }

    /// It must have refused: this code, nothing on stdout, no panic, and on stderr a sentence with all of
    /// `words`.
    #[track_caller]
    pub fn refused(self, code: i32, words: &[&str]) {
        let done = self.code(code);
        assert_eq!(done.out, "", "stderr: {}", done.err);
        assert!(!done.err.contains("panicked") && !done.err.contains("RUST_BACKTRACE"), "{}", done.err);
        for word in words {
            assert!(done.err.contains(word), "no {word:?} in {:?}", done.err);
        }
    }
}

/// Folders for settings and state, and a folder to work in.
pub struct World {
    folder: TempDir,
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("work")).expect("a folder");
        Self { folder }
    }

    /// Where files of the test go.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Where the program keeps its own.
    pub fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Writes a file and gives its path.
    pub fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.work().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        text_of(&path)
    }

    /// Writes the settings.
    pub fn config(&self, text: &str) {
        let folder = self.folder.path().join("config");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("config.toml"), text).expect("a file");
    }

    /// A copy of a golden model that may be changed.
    pub fn model(&self, case: &str) -> PathBuf {
        let folder = self.work().join(case);
        std::fs::create_dir(&folder).expect("a folder");
        for file in ["config.json", "generation_config.json", "tokenizer.json", "model.safetensors"] {
            std::fs::copy(Path::new(&model(case)).join(file), folder.join(file)).expect(file);
        }
        folder
    }

    /// The program with its folders, its working folder and no terminal.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bass-tui"));
        command.envs(self.surroundings());
        // An activated environment would choose the interpreter.
        command.env_remove("VIRTUAL_ENV").env_remove("CONDA_PREFIX");
        command.current_dir(self.work()).args(arguments(args)).timeout(std::time::Duration::from_secs(300));
        command
    }

    /// Like [`command`](Self::command), as a process that can be watched.
    pub fn process(&self, args: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_bass-tui"));
        command.envs(self.surroundings());
        command.current_dir(self.work()).args(arguments(args));
        command
    }

    /// Own folders for everything; no model of the user's may change a result.
    pub fn surroundings(&self) -> [(&'static str, PathBuf); 6] {
        [
            ("BASS_TUI_CONFIG_DIR", "config"),
            ("BASS_TUI_STATE_DIR", "state"),
            ("BASS_TUI_CACHE_DIR", "cache"),
            ("HF_HOME", "hub"),
            ("HF_HUB_CACHE", "hub"),
            ("OLLAMA_MODELS", "ollama"),
        ]
        .map(|(name, folder)| (name, self.folder.path().join(folder)))
    }

    /// Runs the program.
    pub fn run(&self, args: &[&str]) -> Done {
        self.run_with(args, b"")
    }

    /// Runs the program with something on stdin.
    pub fn run_with(&self, args: &[&str], input: &[u8]) -> Done {
        let out = self.command(args).write_stdin(input).output().expect("the program");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Done { code: out.status.code(), out: text(out.stdout), err: text(out.stderr) }
    }

    /// `complete` with `--json`, which must end with 0.
    #[track_caller]
    pub fn complete(&self, args: &[&str]) -> Value {
        let args: Vec<&str> = ["complete", "--json"].iter().chain(args).copied().collect();
        self.run(&args).code(0).json()
    }
}

/// This machine has everything that the sandbox needs.
pub fn isolated() -> bool {
    static ISOLATED: OnceLock<bool> = OnceLock::new();
    *ISOLATED.get_or_init(|| Runner::probe().protection().is_isolated())
}

/// Where there is no sandbox, the code of these tests is run all the same.
fn arguments(args: &[&str]) -> Vec<String> {
    let runs_code = matches!(args.first(), Some(&("complete" | "test" | "eval")));
    let consent = (runs_code && !isolated()).then_some("--unprotected");
    args.iter().copied().chain(consent).map(str::to_owned).collect()
}

pub fn text_of(path: &Path) -> String {
    path.to_str().expect("UTF-8").to_owned()
}

/// A file of the repository.
pub fn repository(file: &str) -> String {
    text_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(file))
}

/// The folder of a golden model.
pub fn model(case: &str) -> String {
    repository(&format!("tests/data/golden/models/{case}"))
}

/// A function that the built-in model writes well.
pub fn is_even() -> String {
    repository("examples/numbers.py") + ":is_even"
}

/// The head of such a function as text of a file.
pub const STUB: &str = "def is_even(n):\n    \"\"\"Return True if n is even, False otherwise.\"\"\"\n";

pub fn ids(value: &Value) -> Vec<u64> {
    value.as_array().expect("a list").iter().map(|id| id.as_u64().expect("an id")).collect()
}

pub fn token_ids(report: &Value) -> Vec<Vec<u64>> {
    candidates(report).iter().map(|c| ids(&c["token_ids"])).collect()
}

pub fn candidates(report: &Value) -> &Vec<Value> {
    report["candidates"].as_array().expect("candidates")
}

pub fn keys(value: &Value) -> String {
    let mut keys: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys.join(" ")
}
