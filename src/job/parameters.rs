//! The parameters that a wish speaks of, written once before the candidates, which then share a head.

use std::ops::ControlFlow;
use std::sync::mpsc::channel;

use super::Job;
use crate::engine::GenerateOptions;
use crate::source::{Event, Request, Source};

/// Most tokens of a list of parameters.
const MOST_TOKENS: usize = 128;

impl Job {
    /// This job with the parameters that its wish asks for, as the source writes them: the most probable ones.
    /// `None` where the wish does not speak of them, or they stay as they are. Waits for the source, as long as
    /// they are wanted.
    pub fn with_wished_parameters(
        &self,
        source: &dyn Source,
        options: &GenerateOptions,
        is_wanted: impl Fn() -> bool + Send + 'static,
    ) -> Option<Self> {
        let (prompt, stop) = self.prompt_of_parameters(&source.window())?;
        let mut options = GenerateOptions { n: 1, max_tokens: MOST_TOKENS, stop, ..options.clone() };
        options.sampling.temperature = 0.0;
        let (send, receive) = channel();
        let mut text = String::new();
        let sink = Box::new(move |event| {
            match event {
                Event::Finished { text: whole, .. } => text = whole,
                Event::Done(_) => drop(send.send(std::mem::take(&mut text))),
                _ => {}
            }
            if is_wanted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        drop(source.generate(Request { prompt, reference: self.reference(), options }, sink));
        // A source that fails says so again when it is asked for candidates.
        self.with_parameters(&receive.recv().ok()?)
    }
}
