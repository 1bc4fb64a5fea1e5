//! The screen without a terminal, models and tests, to measure how long it takes to draw: what comes in is
//! told by the caller, and what goes out is written nowhere.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};

use super::app::{Msg, State, update};
use super::event::Key;
use super::highlight::{Coloured, Highlights};
use super::keymap::Keymap;
use super::theme::{Depth, Theme};
use super::view::{self, Look};
use crate::engine::GenerateOptions;
use crate::job::{self, Job};
use crate::source::SourceInfo;
use crate::trial::Protection;

/// A screen that is drawn into nothing.
pub struct Canvas {
    state: State,
    theme: Theme,
    highlights: Highlights,
    coloured: Receiver<Coloured>,
    terminal: Terminal<CrosstermBackend<io::Sink>>,
    now: u64,
}

impl Canvas {
    /// A screen of so many columns and rows for a job, as a generation of `n` candidates begins.
    pub fn new(job: Job, n: usize, (width, height): (u16, u16)) -> io::Result<Self> {
        let options = GenerateOptions { n, ..GenerateOptions::default() };
        let theme = Theme::find("dark", Path::new(""), false, Depth::True).map_err(io::Error::other)?;
        let (send, coloured) = mpsc::channel();
        let highlights = Highlights::start(&theme, move |lines| drop(send.send(lines)));
        let viewport = Viewport::Fixed(Rect::new(0, 0, width, height));
        let terminal = Terminal::with_options(CrosstermBackend::new(io::sink()), TerminalOptions { viewport })?;
        let state = State::new(Arc::new(job), options, Keymap::default(), true);
        let mut canvas = Self { state, theme, highlights, coloured, terminal, now: 0 };
        canvas.send(Msg::Resize(width, height));
        canvas.send(Msg::Opened(Ok((SourceInfo::default(), Protection::default()))));
        canvas.key("f5");
        Ok(canvas)
    }

    fn send(&mut self, msg: Msg) {
        self.now += 10;
        drop(update(&mut self.state, self.now, msg));
    }

    /// An event of the run.
    pub fn event(&mut self, event: job::Event) {
        self.send(Msg::Job { run: 1, event });
    }

    /// A key by its name in settings, such as `ctrl-t`. Names of no key do nothing.
    pub fn key(&mut self, name: &str) {
        if let Some(key) = Key::parse(name) {
            self.send(Msg::Key(key));
        }
    }

    /// Draws what has changed.
    pub fn draw(&mut self) -> io::Result<()> {
        self.coloured.try_iter().for_each(|lines| self.highlights.take(lines));
        view::sync(&self.state, &mut self.highlights);
        let look = Look { state: &self.state, theme: &self.theme, highlights: &self.highlights };
        self.terminal.draw(|frame| {
            view::draw(frame, &look);
            look.theme.paint(frame.buffer_mut());
        })?;
        Ok(())
    }

    /// Draws until all code has its colours.
    pub fn settle(&mut self) -> io::Result<()> {
        self.draw()?;
        while let Ok(lines) = self.coloured.recv_timeout(std::time::Duration::from_millis(500)) {
            self.highlights.take(lines);
            self.draw()?;
        }
        Ok(())
    }
}
