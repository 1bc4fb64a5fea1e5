//! The terminal: taken over, and given back as it was, after a return, an error, a panic or a signal.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::AsFd;
use std::panic::{self, PanicHookInfo};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};

use crossterm::event::{
    DisableBracketedPaste, EnableBracketedPaste, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags,
    PushKeyboardEnhancementFlags,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{cursor, execute, queue};
use futures_util::Stream;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal};

use super::event::Input;
use super::keyboard;

/// The terminal is ours right now, so that panic hook, guard and suspension give it back once.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal: standard output if it is one, else the terminal device, so that the output can be captured.
static DEVICE: OnceLock<File> = OnceLock::new();

/// The terminal to write to.
pub fn device() -> io::Result<&'static File> {
    if let Some(device) = DEVICE.get() {
        return Ok(device);
    }
    let stdout = io::stdout();
    let device = if stdout.is_terminal() {
        stdout.as_fd().try_clone_to_owned()?.into()
    } else {
        OpenOptions::new().read(true).write(true).open("/dev/tty")?
    };
    Ok(DEVICE.get_or_init(|| device))
}

/// The terminal reports buttons and wheel, so that taking it over again turns that on again.
static MOUSE: AtomicBool = AtomicBool::new(false);

// Buttons and wheel without motion, with numbers of any size.
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1000l";

/// Holds the terminal in raw mode on the alternate screen; gives it back when dropped.
#[derive(Debug)]
pub struct Guard(());

impl Guard {
    /// Takes the terminal over.
    pub fn enter() -> io::Result<Self> {
        let guard = Self(());
        take()?;
        Ok(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

/// Sets all modes, also where another program has changed them. Without the right to, as a job in the
/// background, the process stops here until it has it.
fn take() -> io::Result<()> {
    let mut out = device()?;
    disable_raw_mode()?;
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    execute!(
        out,
        PopKeyboardEnhancementFlags,
        EnterAlternateScreen,
        EnableBracketedPaste,
        // Lets terminals that can tell Shift-Enter from Enter; nothing depends on it.
        PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
        cursor::Hide,
        Print(if MOUSE.load(Ordering::SeqCst) { MOUSE_ON } else { "" })
    )
}

/// Gives the terminal back, once. Errors have nowhere to go.
pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = device().and_then(|mut out| {
            execute!(
                out,
                EndSynchronizedUpdate,
                Print(if MOUSE.load(Ordering::SeqCst) { MOUSE_OFF } else { "" }),
                PopKeyboardEnhancementFlags,
                DisableBracketedPaste,
                LeaveAlternateScreen,
                cursor::Show
            )
        });
        let _ = disable_raw_mode();
    }
}

/// Makes panics legible: one on this thread gives the terminal back before it is printed. One on another
/// thread goes to `fault` while the terminal is ours.
pub fn guard_panics(fault: impl Fn(String) + Send + Sync + 'static) {
    let own = thread::current().id();
    let before = panic::take_hook();
    let fault = Arc::new(fault);
    panic::set_hook(Box::new(move |info| on_panic(own, info, &*fault, &*before)));
}

fn on_panic(
    own: ThreadId,
    info: &PanicHookInfo<'_>,
    fault: &dyn Fn(String),
    before: &(dyn Fn(&PanicHookInfo<'_>) + Sync + Send),
) {
    if thread::current().id() != own && TAKEN.load(Ordering::SeqCst) {
        let name = thread::current().name().unwrap_or("worker").to_owned();
        let what = message(info).to_owned();
        let place = info.location().map(|l| format!(" at {l}")).unwrap_or_default();
        fault(format!("the {name} thread failed: {what}{place}. Please report this"));
        return;
    }
    restore();
    before(info);
}

fn message<'a>(info: &'a PanicHookInfo<'_>) -> &'a str {
    let payload = info.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Screen that the loop draws on.
pub trait Screen {
    /// Draws a frame; only cells that changed are sent.
    fn draw(&mut self, paint: &mut dyn FnMut(&mut Frame)) -> io::Result<()>;
    /// Makes the next frame draw every cell.
    fn clear(&mut self) -> io::Result<()>;
    /// Sends control sequences.
    fn send(&mut self, sequence: &str) -> io::Result<()>;
    /// Lets the terminal report the mouse, or not.
    fn mouse(&mut self, on: bool) -> io::Result<()>;
    /// Gives the terminal back, stops the process, and takes the terminal over when it goes on.
    fn suspend(&mut self) -> io::Result<()>;
    /// Gives the terminal to another program while `run` runs.
    fn lend(&mut self, run: &mut dyn FnMut()) -> io::Result<()>;
    /// Sets all modes of the terminal again, after the process was stopped from outside.
    fn retake(&mut self) -> io::Result<()>;
    /// Columns and rows.
    fn size(&self) -> io::Result<(u16, u16)>;
}

/// Input of the terminal.
pub type InputStream = Pin<Box<dyn Stream<Item = io::Result<Input>>>>;

/// Where input comes from. A stream that is not read still swallows keys, so it is dropped and made anew.
pub trait Inputs {
    /// A new stream.
    fn open(&mut self) -> InputStream;
}

/// The real screen.
pub struct RealScreen {
    terminal: Terminal<CrosstermBackend<BufWriter<File>>>,
}

impl RealScreen {
    /// The screen of the terminal; a [`Guard`] must be held.
    pub fn new() -> io::Result<Self> {
        // A frame goes out in one write.
        let out = BufWriter::with_capacity(1 << 16, device()?.try_clone()?);
        Ok(Self { terminal: Terminal::new(CrosstermBackend::new(out))? })
    }
}

impl Screen for RealScreen {
    fn draw(&mut self, paint: &mut dyn FnMut(&mut Frame)) -> io::Result<()> {
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(|frame| paint(frame))?;
        execute!(self.terminal.backend_mut(), EndSynchronizedUpdate)
    }

    fn clear(&mut self) -> io::Result<()> {
        // The library's `clear` asks the terminal for the cursor and waits for an answer that the keyboard's
        // reader would swallow; a resize to the same size clears without asking.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }

    fn send(&mut self, sequence: &str) -> io::Result<()> {
        let out = self.terminal.backend_mut();
        out.write_all(sequence.as_bytes())?;
        Write::flush(out)
    }

    fn mouse(&mut self, on: bool) -> io::Result<()> {
        MOUSE.store(on, Ordering::SeqCst);
        self.send(if on { MOUSE_ON } else { MOUSE_OFF })
    }

    fn suspend(&mut self) -> io::Result<()> {
        restore();
        stop_process();
        self.retake()
    }

    fn retake(&mut self) -> io::Result<()> {
        take()?;
        self.clear()
    }

    fn lend(&mut self, run: &mut dyn FnMut()) -> io::Result<()> {
        restore();
        run();
        take()?;
        self.clear()
    }

    fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }
}

/// Stops the process, as the terminal does on Ctrl-Z; returns when the shell lets it go on.
fn stop_process() {
    // To this thread: another might take a signal to the process, and this one would take the terminal back
    // too soon. SAFETY: both structures live until the end, and the handler that is put back is the one that
    // was there; the default action of SIGTSTP is to stop the whole process.
    unsafe {
        let mut default: libc::sigaction = std::mem::zeroed();
        default.sa_sigaction = libc::SIG_DFL;
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGTSTP, &raw const default, &raw mut before) == 0 {
            libc::raise(libc::SIGTSTP);
            libc::sigaction(libc::SIGTSTP, &raw const before, std::ptr::null_mut());
        }
    }
}

/// Lines that the user types, where nothing else reads the terminal.
pub fn lines() -> io::Result<io::BufReader<File>> {
    keyboard::device().map(io::BufReader::new)
}

/// Says why there can be no screen, before anything is touched.
pub fn check() -> Result<(), &'static str> {
    device()
        .map_err(|_| "standard output is not a terminal, so there can be no screen; use `bass-tui complete` in scripts and pipes")?;
    keyboard::device().map_err(|_| {
        "standard input is not a terminal, so no keys can be read; use `bass-tui complete --prompt-file -` to read a prompt from a pipe"
    })?;
    Ok(())
}
