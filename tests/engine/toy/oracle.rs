//! Expected output, computed the slow way: one sequence, one token after the other, everything looked at anew
//! each time.

use bass_tui::engine::{FinishReason, GenerateOptions};
use bass_tui::sampling::{Accept, Distribution, DrawKey, Purpose, raw_logprob};

use super::network::Table;
use super::{EOS, LETTERS};

/// One candidate, written to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    pub ids: Vec<u32>,
    pub logprobs: Vec<f32>,
    pub text: String,
    pub reason: FinishReason,
}

/// Writes candidate `candidate`. `Rejection` is that of plain decoding: without drafts there is nothing to
/// reject.
pub fn write(table: &Table, context: usize, prompt: &[u32], options: &GenerateOptions, candidate: usize) -> Written {
    let mut tokens = prompt.to_vec();
    let mut written =
        Written { ids: Vec::new(), logprobs: Vec::new(), text: String::new(), reason: FinishReason::Length };
    loop {
        let row = table.row(&tokens);
        let key = DrawKey { seed: options.seed, candidate: candidate as u32, position: tokens.len() as u32 };
        let p = Distribution::new(&row, &options.sampling, &tokens);
        let id = match options.accept {
            Accept::Coupled => p.draw_coupled(key),
            Accept::Rejection => p.draw(key, Purpose::Sample),
        };
        tokens.push(id);
        written.ids.push(id);
        written.logprobs.push(raw_logprob(&row, id));
        if id == EOS && !options.stop.ignore_eos {
            written.reason = FinishReason::Stop;
            return written;
        }
        written.text.push_str(LETTERS[id as usize]);
        if let Some(end) = end(&written.text, options) {
            written.text.truncate(end);
            written.reason = FinishReason::Stop;
            return written;
        }
        if written.ids.len() == options.max_tokens || tokens.len() == context {
            return written;
        }
    }
}

/// Where the text ends, if it does.
fn end(text: &str, options: &GenerateOptions) -> Option<usize> {
    let strings = options.stop.strings.iter().filter_map(|stop| text.find(stop));
    let rule = options.stop.text.as_ref().and_then(|rule| rule(text));
    strings.chain(rule).min()
}

/// The text of tokens that ended before any stop: of a candidate that was cut.
pub fn spell(ids: &[u32]) -> String {
    ids.iter().map(|&id| LETTERS[id as usize]).collect()
}

/// Mean log-probability, as the engine reports it.
pub fn mean(logprobs: &[f32]) -> f32 {
    if logprobs.is_empty() {
        return 0.0;
    }
    (logprobs.iter().map(|&l| f64::from(l)).sum::<f64>() / logprobs.len() as f64) as f32
}
