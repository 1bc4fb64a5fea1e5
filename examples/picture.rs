//! Makes the pictures of the README and a recording, of the real program on a pseudo-terminal:
//! `scripts/picture`.
//!
//! `cargo run --example picture -- PROGRAM` writes `assets/screen-dark.svg`, `assets/screen-light.svg` and
//! `assets/tour.cast` (asciinema, version 2).

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use vt100::{Color, Parser};

const COLUMNS: u16 = 112;
const ROWS: u16 = 20;
/// Size of a cell, and of the text in it.
const CELL: (f64, f64) = (8.0, 18.0);
const FONT: f64 = 13.3;
/// Around the cells, and above them for the title bar.
const MARGIN: f64 = 14.0;
const BAR: f64 = 34.0;
/// Nothing new for so long: the screen has settled.
const QUIET: Duration = Duration::from_millis(900);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The program on a terminal, and what it has sent so far with the times of that.
struct Session {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    screen: Parser,
    sent: Vec<(Duration, Vec<u8>)>,
    start: Instant,
}

impl Session {
    fn start(program: &Path, home: &Path, args: &[&str]) -> Result<Self> {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size)?;
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.cwd(home.join("work"));
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "HOME"] {
            command.env(name, home);
        }
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        for name in ["NO_COLOR", "TMUX"] {
            command.env_remove(name);
        }
        let child = pty.slave.spawn_command(command)?;
        let (send, output) = channel();
        let mut reader = pty.master.try_clone_reader()?;
        thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(n @ 1..) = reader.read(&mut buffer) {
                if send.send(buffer[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        let of = |n: u16| NonZero::new(n).ok_or("a terminal has cells");
        let screen = Parser::new(of(ROWS)?, of(COLUMNS)?, 0);
        let keys = pty.master.take_writer()?;
        Ok(Self { child, keys, output, screen, sent: Vec::new(), start: Instant::now() })
    }

    /// Waits for these words, and until nothing moves any more.
    fn settles(&mut self, words: &str) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(90);
        loop {
            match self.output.recv_timeout(QUIET) {
                Ok(bytes) => {
                    self.screen.process(&bytes);
                    self.sent.push((self.start.elapsed(), bytes));
                }
                Err(_) if self.screen.screen().contents().contains(words) => return Ok(()),
                Err(_) => {}
            }
            if Instant::now() > deadline {
                return Err(format!("{words:?} did not come:\n{}", self.screen.screen().contents()).into());
            }
        }
    }

    fn press(&mut self, keys: &str) -> Result<()> {
        for key in keys.chars() {
            self.keys.write_all(key.encode_utf8(&mut [0; 4]).as_bytes())?;
            self.keys.flush()?;
            thread::sleep(Duration::from_millis(90));
        }
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A home with settings that name the built-in models, and the examples in `work`.
fn home() -> Result<tempfile::TempDir> {
    let home = tempfile::tempdir()?;
    fs::create_dir_all(home.path().join("bass-tui"))?;
    fs::create_dir_all(home.path().join("work"))?;
    fs::write(home.path().join("bass-tui/config.toml"), "model = \"built-in\"\n")?;
    for name in ["lists.py", "dictionaries.py", "strings.py"] {
        fs::copy(
            Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name),
            home.path().join("work").join(name),
        )?;
    }
    Ok(home)
}

/// A colour of a cell; `default` where the program leaves it to the terminal.
fn colour(color: Color, default: &str) -> String {
    match color {
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        _ => default.to_owned(),
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A run of one style as pieces between gaps, each at its own column, so that no font moves what follows.
fn texts(run: &str, (left, y): (f64, f64), fill: &str, (bold, dim, underlined): (bool, bool, bool)) -> String {
    let mut more = String::new();
    if bold {
        more.push_str(" font-weight=\"bold\"");
    }
    if dim {
        more.push_str(" opacity=\".6\"");
    }
    if underlined {
        more.push_str(" text-decoration=\"underline\"");
    }
    let (mut out, mut at) = (String::new(), 0);
    for piece in run.split("  ") {
        let text = piece.trim();
        let lead = piece.chars().count() - piece.trim_start().chars().count();
        let length = text.chars().count();
        if length > 0 {
            let (x, wide) = (left + (at + lead) as f64 * CELL.0, length as f64 * CELL.0);
            let text = escape(text);
            let _ =
                writeln!(out, "<text x=\"{x}\" y=\"{y}\" fill=\"{fill}\" textLength=\"{wide}\"{more}>{text}</text>");
        }
        at += piece.chars().count() + 2;
    }
    out
}

/// The screen as a picture. Rules are drawn as lines, so that they have no gaps in any font.
fn svg(screen: &vt100::Screen, light: bool) -> String {
    let cell = |y: u16, x: u16| screen.cell(y, x);
    let corner = cell(ROWS - 1, COLUMNS - 1);
    let plain = if light { ("#24292f", "#ffffff") } else { ("#c0caf5", "#1a1b26") };
    let ground = corner.map_or(plain.1.to_owned(), |cell| colour(cell.bgcolor(), plain.1));
    let frame = if light { "#d0d7de" } else { "#3b4261" };
    let (width, height) = (f64::from(COLUMNS) * CELL.0 + 2.0 * MARGIN, f64::from(ROWS) * CELL.1 + BAR + MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace\" font-size=\"{FONT}\">\n\
         <title>bass-tui: eight candidates of one function, with the verdicts of its tests</title>\n\
         <rect x=\".5\" y=\".5\" width=\"{}\" height=\"{}\" rx=\"9\" fill=\"{ground}\" stroke=\"{frame}\"/>\n",
        width - 1.0,
        height - 1.0
    );
    for (at, dot) in ["#ff5f57", "#febc2e", "#28c840"].iter().enumerate() {
        let _ = writeln!(out, "<circle cx=\"{}\" cy=\"17\" r=\"5.5\" fill=\"{dot}\"/>", 20 + 19 * at);
    }
    let mut boxes = String::new();
    let mut words = String::new();
    for y in 0..ROWS {
        let top = BAR + f64::from(y) * CELL.1;
        let mut x = 0;
        while x < COLUMNS {
            let style = |x: u16| {
                let cell = cell(y, x)?;
                let (mut fg, mut bg) = (colour(cell.fgcolor(), plain.0), colour(cell.bgcolor(), &ground));
                if cell.inverse() {
                    (fg, bg) = (bg, fg);
                }
                Some((fg, bg, cell.bold(), cell.dim(), cell.underline()))
            };
            let text =
                |x: u16| cell(y, x).map_or(" ", |cell| if cell.contents().is_empty() { " " } else { cell.contents() });
            let rule = |x: u16| match text(x) {
                "─" => Some((true, 1.0)),
                "━" => Some((true, 2.0)),
                "│" => Some((false, 1.0)),
                "┃" => Some((false, 2.0)),
                _ => None,
            };
            let from = x;
            let (first, kind) = (style(x), rule(x));
            let mut run = String::new();
            while x < COLUMNS && style(x) == first && rule(x) == kind {
                run.push_str(text(x));
                x += 1;
            }
            let Some((fg, bg, bold, dim, underlined)) = first else { continue };
            let (left, wide) = (MARGIN + f64::from(from) * CELL.0, f64::from(x - from) * CELL.0);
            if bg != ground {
                let _ = writeln!(
                    boxes,
                    "<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{}\" fill=\"{bg}\"/>",
                    CELL.1
                );
            }
            if let Some((level, thick)) = kind {
                let (middle, half) = (top + CELL.1 / 2.0, thick / 2.0);
                if level {
                    let y = middle - half;
                    let _ = writeln!(
                        boxes,
                        "<rect x=\"{left}\" y=\"{y}\" width=\"{wide}\" height=\"{thick}\" fill=\"{fg}\"/>"
                    );
                } else {
                    for at in 0..x - from {
                        let x = left + (f64::from(at) + 0.5) * CELL.0 - half;
                        let high = CELL.1;
                        let _ = writeln!(
                            boxes,
                            "<rect x=\"{x}\" y=\"{top}\" width=\"{thick}\" height=\"{high}\" fill=\"{fg}\"/>"
                        );
                    }
                }
                continue;
            }
            words.push_str(&texts(&run, (left, top + 13.2), &fg, (bold, dim, underlined)));
        }
    }
    out + &boxes + &words + "</svg>\n"
}

/// The output in the format of asciinema.
fn cast(sent: &[(Duration, Vec<u8>)]) -> String {
    let mut out = format!("{{\"version\": 2, \"width\": {COLUMNS}, \"height\": {ROWS}, \"title\": \"bass-tui\"}}\n");
    let mut rest = Vec::new();
    for (at, bytes) in sent {
        rest.extend_from_slice(bytes);
        // A character may be cut by the end of a piece.
        let whole = match std::str::from_utf8(&rest) {
            Ok(_) => rest.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8_lossy(&rest[..whole]).into_owned();
        rest.drain(..whole);
        let line = serde_json::json!([(at.as_secs_f64() * 1000.0).round() / 1000.0, "o", text]);
        let _ = writeln!(out, "{line}");
    }
    out
}

fn main() -> Result<()> {
    let program = std::env::args_os().nth(1).ok_or("name the program: scripts/picture builds it and does so")?;
    let program = fs::canonicalize(program)?;
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let ours = ["strings.py:is_palindrome", "--temperature", "1.0", "--seed", "10", "-n", "8"];
    for (name, theme, light) in [("dark", "tokyo-night", false), ("light", "github-light", true)] {
        let home = home()?;
        let mut session = Session::start(&program, home.path(), &[&ours[..], &["--theme", theme]].concat())?;
        session.settles("Enter generate")?;
        session.press("g")?;
        session.settles("7 passed, 1 failed")?;
        fs::write(assets.join(format!("screen-{name}.svg")), svg(session.screen.screen(), light))?;
    }
    let home = home()?;
    let args = [".", "--temperature", "1.0", "--seed", "10", "-n", "8", "--theme", "tokyo-night"];
    let mut session = Session::start(&program, home.path(), &args)?;
    session.settles("functions of")?;
    session.press("palin")?;
    session.settles("1 of")?;
    for (keys, words) in [
        ("\r", "Enter generate"),
        ("g", "7 passed, 1 failed"),
        ("2", "Enter accept"),
        ("d", "against"),
        ("]", "against"),
        ("\x1b", "7 passed, 1 failed"),
        ("t", "tests:"),
        ("t", "7 passed, 1 failed"),
        ("n", "Enter accept"),
        ("\r", "written to"),
        ("u", "as it was before"),
    ] {
        session.press(keys)?;
        session.settles(words)?;
    }
    fs::write(assets.join("tour.cast"), cast(&session.sent))?;
    Ok(())
}
