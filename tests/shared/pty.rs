//! A program on a real pseudo-terminal, and what that terminal shows. Nothing sleeps: every step waits until
//! the screen shows what it should, up to a deadline.
#![allow(dead_code)] // each test file uses a part

use std::io::{Read, Write};
use std::num::NonZero;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, SlavePty, native_pty_system};
use vt100::MouseProtocolMode;

/// Longer than anything takes on the slowest machine.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// A terminal with a program on it.
pub struct Pty {
    pub master: Box<dyn MasterPty + Send>,
    /// Held open, so that the modes can be read after the program has ended.
    _slave: Box<dyn SlavePty + Send>,
    keys: Box<dyn Write + Send>,
    pub child: Box<dyn Child + Send + Sync>,
    pub shown: Arc<(Mutex<vt100::Parser>, Condvar)>,
    modes_before: String,
}

impl Pty {
    pub fn start(mut command: CommandBuilder, columns: u16, rows: u16) -> Self {
        let pair =
            native_pty_system().openpty(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
        command.env("TERM", "xterm-256color");
        for name in ["NO_COLOR", "COLORTERM", "TMUX"] {
            command.env_remove(name);
        }
        let modes_before = format!("{:?}", pair.master.get_termios());
        let child = pair.slave.spawn_command(command).unwrap();
        let shown = Arc::new((Mutex::new(vt100::Parser::new(cells(rows), cells(columns), 0)), Condvar::new()));
        let feed = shown.clone();
        let mut reader = pair.master.try_clone_reader().unwrap();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                feed.0.lock().unwrap().process(&buffer[..n]);
                feed.1.notify_all();
            }
        });
        let keys = pair.master.take_writer().unwrap();
        Self { master: pair.master, _slave: pair.slave, keys, child, shown, modes_before }
    }

    /// Runs one of the children below.
    pub fn child(test: &str, columns: u16, rows: u16) -> Self {
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"]);
        Self::start(command, columns, rows)
    }

    pub fn until(&self, what: &str, mut reached: impl FnMut(&vt100::Screen) -> bool) {
        let deadline = Instant::now() + DEADLINE;
        let mut parser = self.shown.0.lock().unwrap();
        while !reached(parser.screen()) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "{what} did not come; the screen shows:\n{}", parser.screen().contents());
            parser = self.shown.1.wait_timeout(parser, left).unwrap().0;
        }
    }

    pub fn sees(&self, words: &str) {
        self.until(words, |screen| screen.contents().contains(words));
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    pub fn resize(&self, columns: u16, rows: u16) {
        self.shown.0.lock().unwrap().screen_mut().set_size(cells(rows), cells(columns));
        self.master.resize(PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }).unwrap();
    }

    /// The program ends, and the terminal is as it was.
    pub fn ends(mut self) -> ExitStatus {
        self.until("the normal screen", |screen| !screen.alternate_screen());
        let status = self.child.wait().unwrap();
        self.until("the cursor", |screen| !screen.hide_cursor());
        self.until("the end of bracketed paste", |screen| !screen.bracketed_paste());
        self.until("the end of the mouse", |screen| screen.mouse_protocol_mode() == MouseProtocolMode::None);
        assert_eq!(format!("{:?}", self.master.get_termios()), self.modes_before, "line modes");
        status
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // A test that failed leaves no program behind.
        let _ = self.child.kill();
    }
}

pub fn cells(n: u16) -> NonZero<u16> {
    NonZero::new(n).unwrap()
}

/// Replies of terminals: colours, attributes, versions, places, modes, of keyboard and graphics.
pub const REPLIES: &[&str] = &[
    "\x1b]10;rgb:ffff/ffff/ffff\x1b\\", "\x1b]11;rgb:1e1e/1e1e/2e2e\x07", "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\",
    "\x1b[?62;22;52c", "\x1b[>41;390;0c", "\x1bP!|00000000\x1b\\", "\x1bP>|xterm(390) q\x1b\\", "\x1b[0n",
    "\x1b[24;80R", "\x1b[?2026;2$y", "\x1b[?1u", "\x1b_Gi=31;OK\x1b\\",
];

pub const ENTER: &str = "\r";
pub const CTRL_C: &str = "\x03";

/// Sends a signal to the program.
pub fn kill(pty: &Pty, signal: &str) {
    let id = pty.child.process_id().unwrap().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
}

/// The program on its built-in example, with files of its own, and settings that name the built-in models.
pub fn program(home: &std::path::Path, args: &[&str]) -> CommandBuilder {
    std::fs::create_dir_all(home.join("bass-tui")).unwrap();
    std::fs::write(home.join("bass-tui/config.toml"), "model = \"built-in\"\n").unwrap();
    unset(home, args)
}

/// The program without settings.
pub fn unset(home: &std::path::Path, args: &[&str]) -> CommandBuilder {
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_bass-tui"));
    command.args(args);
    command.cwd(home);
    for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "HOME"] {
        command.env(name, home);
    }
    command
}
