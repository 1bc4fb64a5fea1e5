//! The head that a wish speaks of, written once before the candidates, which then share it.

use std::ops::ControlFlow;
use std::sync::mpsc::channel;

use super::Job;
use crate::code::HeadPart;
use crate::engine::GenerateOptions;
use crate::source::{Event, Request, Source};

impl Job {
    /// This job with the head that its wish asks for, as the source writes it: the most probable one. `None`
    /// where the wish does not speak of it, or it stays as it is; and the parts that stay. Waits for the
    /// source, whose events are `told`, until the answer to one is to stop.
    pub fn with_wished_head(
        &self,
        source: &dyn Source,
        options: &GenerateOptions,
        told: &(impl Fn(&Event) -> ControlFlow<()> + Clone + Send + 'static),
    ) -> (Option<Self>, Vec<HeadPart>) {
        let (mut changed, mut lacking) = (None, Vec::new());
        for part in self.wished_head() {
            match changed.as_ref().unwrap_or(self).with_written(part, source, options, told) {
                Some(written) => changed = Some(written),
                None => lacking.push(part),
            }
        }
        (changed, lacking)
    }

    /// This job with one part of the head as the source writes it.
    fn with_written(
        &self,
        part: HeadPart,
        source: &dyn Source,
        options: &GenerateOptions,
        told: &(impl Fn(&Event) -> ControlFlow<()> + Clone + Send + 'static),
    ) -> Option<Self> {
        let (prompt, stop) = self.prompt_of_head(part, &source.window())?;
        let max_tokens = match part {
            HeadPart::Parameters => 128,
            HeadPart::Docs => 512,
        };
        let mut options = GenerateOptions { n: 1, max_tokens, stop, ..options.clone() };
        options.sampling.temperature = 0.0;
        let (send, receive) = channel();
        let mut text = String::new();
        let told = told.clone();
        let sink = Box::new(move |event| {
            let answer = told(&event);
            match event {
                Event::Finished { text: whole, .. } => text = whole,
                Event::Done(_) => drop(send.send(std::mem::take(&mut text))),
                _ => {}
            }
            answer
        });
        drop(source.generate(Request { prompt, reference: self.reference(), options }, sink));
        // A source that fails says so again when it is asked for candidates.
        self.with_head(part, &receive.recv().ok()?, &source.window())
    }
}
