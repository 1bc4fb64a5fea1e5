//! The keyboard: a thread reads the terminal and decodes its bytes; signals about the terminal come in
//! beside.

use std::fs::File;
use std::io::{self, IsTerminal, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};

use filedescriptor::{POLLIN, poll, pollfd};
use futures_util::Stream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::decoder::Decoder;
use super::event::Input;
use super::terminal::{InputStream, Inputs};

/// The keyboard of the terminal that the screen is on.
#[derive(Debug)]
pub struct Keyboard;

impl Inputs for Keyboard {
    fn open(&mut self) -> InputStream {
        match Reading::start() {
            Ok(reading) => Box::pin(reading),
            Err(error) => {
                let mut error = Some(error);
                Box::pin(futures_util::stream::poll_fn(move |_| Poll::Ready(error.take().map(Err))))
            }
        }
    }
}

/// Where keys come from: standard input if it is a terminal, else the terminal device.
pub fn device() -> io::Result<File> {
    let stdin = io::stdin();
    if stdin.is_terminal() { Ok(stdin.as_fd().try_clone_to_owned()?.into()) } else { File::open("/dev/tty") }
}

/// A thread that reads until this is dropped, so that no key of the next program is taken away.
struct Reading {
    inputs: UnboundedReceiver<io::Result<Input>>,
    resized: Signal,
    continued: Signal,
    stop: Signal,
    /// Closed to end the thread.
    open: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Reading {
    fn start() -> io::Result<Self> {
        let device = device()?;
        let (closed, open) = io::pipe()?;
        let (send, inputs) = unbounded_channel();
        let resized = signal(SignalKind::window_change())?;
        let continued = signal(SignalKind::from_raw(libc::SIGCONT))?;
        let stop = signal(SignalKind::from_raw(libc::SIGTSTP))?;
        let body = move || {
            if let Err(error) = read(device, &closed, &send) {
                let _ = send.send(Err(error));
            }
        };
        let thread = thread::Builder::new().name("keyboard".into()).spawn(body)?;
        Ok(Self { inputs, resized, continued, stop, open: Some(open), thread: Some(thread) })
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.open = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl Stream for Reading {
    type Item = io::Result<Input>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.continued.poll_recv(context).is_ready() {
            return Poll::Ready(Some(Ok(Input::Continued)));
        }
        if self.stop.poll_recv(context).is_ready() {
            return Poll::Ready(Some(Ok(Input::Stop)));
        }
        if self.resized.poll_recv(context).is_ready() {
            let size = crossterm::terminal::size().map(|(columns, rows)| Input::Resize(columns, rows));
            return Poll::Ready(Some(size));
        }
        self.inputs.poll_recv(context)
    }
}

/// Reads until the terminal or `closed` is closed.
fn read(mut device: File, closed: &PipeReader, send: &UnboundedSender<io::Result<Input>>) -> io::Result<()> {
    let (mut decoder, mut inputs) = (Decoder::default(), Vec::new());
    let mut buffer = [0; 4096];
    loop {
        let watch = |fd| pollfd { fd, events: POLLIN, revents: 0 };
        let mut ready = [watch(device.as_raw_fd()), watch(closed.as_raw_fd())];
        match poll(&mut ready, decoder.wait()) {
            Ok(0) => decoder.pause(&mut inputs),
            Ok(_) if ready[1].revents != 0 => return Ok(()),
            Ok(_) => match device.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => buffer[..n].iter().for_each(|&byte| decoder.push(byte, &mut inputs)),
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                // The terminal is gone.
                Err(error) if error.raw_os_error() == Some(libc::EIO) => return Ok(()),
                Err(error) => return Err(error),
            },
            Err(filedescriptor::Error::Poll(why) | filedescriptor::Error::Io(why))
                if why.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(io::Error::other(error)),
        }
        if inputs.drain(..).any(|input| send.send(Ok(input)).is_err()) {
            return Ok(());
        }
    }
}
