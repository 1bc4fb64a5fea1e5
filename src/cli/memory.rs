//! Memory use of models on this machine, and the proposed model, in words.

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use crate::backend::Dtype;
use crate::catalog::memory::{Need, Proposal, Shape, Use, of_machine};
use crate::catalog::{Catalog, Entry};
use crate::hub::bytes;
use crate::language::Language;
use crate::options::Settings;

use super::session::Session;

/// The use of a model under the settings.
pub fn usage(settings: &Settings) -> Use {
    Use {
        dtype: settings.load.dtype,
        draft_dtype: settings.draft_dtype,
        n: settings.generate.n,
        tokens: settings.generate.max_tokens,
    }
}

/// Weights that fit into the caches of a processor, in bytes. Reading fewer of them gains nothing.
const CACHED: u64 = 64 << 20;

/// The gain of int8 over `dtype`: an estimate by bytes read. `None` if it is small.
pub fn gain(shape: &Shape, dtype: Dtype) -> Option<String> {
    let (now, int8) = (shape.weights(dtype), shape.weights(Dtype::Int8));
    (now > CACHED && int8 < now / 10 * 9).then(|| {
        format!(
            "a step would read {} instead of {}: up to {:.1} times as fast where memory is the limit, {} less memory \
             (an estimate by bytes; what is written changes a little)",
            bytes(int8),
            bytes(now),
            now as f64 / int8 as f64,
            bytes(now - int8)
        )
    })
}

/// Tokens of a usual prompt, and of a usual body.
const PROMPT: f64 = 512.0;
const BODY: f64 = 40.0;
/// Floating-point operations of a core in a second, with vectors of 256 bits. Others do up to three times as
/// many.
const OPERATIONS: f64 = 40e9;
/// Longest that a proposed model may take until the first bodies are there, in seconds.
pub const PATIENCE: f64 = 60.0;

/// Figures of a machine that the time of a generation depends on.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    pub memory: Option<u64>,
    pub cores: usize,
    /// Bytes read from memory in a second.
    pub bandwidth: f64,
}

impl Machine {
    /// This machine, its bandwidth measured in a few ms.
    pub fn measured() -> Self {
        let this = Self::counted();
        Self { bandwidth: bandwidth(this.cores), ..this }
    }

    /// This machine without a measurement: only its cores count.
    pub fn counted() -> Self {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { memory: of_machine(), cores, bandwidth: f64::INFINITY }
    }

    /// Seconds until the first bodies of `n` candidates are there: the operations of prompt and bodies with the
    /// weights that a token uses, all weights read for the prompt, and for each step those that its rows use.
    pub fn seconds(&self, entry: &Entry, need: Need, n: usize) -> f64 {
        let billions = entry.active.or(entry.parameters).unwrap_or_default();
        let operations = 2e9 * billions * (PROMPT + BODY * n as f64);
        let read = need.weights as f64 + BODY * need.read as f64;
        operations / (OPERATIONS * self.cores as f64) + read / self.bandwidth
    }

    /// The largest model of the catalog that fits, and is fast enough here.
    pub fn proposal<'a>(&self, catalog: &'a Catalog, how: Use) -> Option<Proposal<'a>> {
        let is_quick = |p: &Proposal| self.seconds(p.entry, p.need, how.n) <= PATIENCE;
        catalog.proposal(self.memory?, how, &is_quick)
    }
}

/// Bytes that all cores read from memory in a second; takes a few ms.
fn bandwidth(cores: usize) -> f64 {
    let words = vec![1u64; 8 << 20];
    let each = words.len().div_ceil(cores.max(1));
    let once = |_| {
        let begin = Instant::now();
        thread::scope(|scope| {
            for part in words.chunks(each) {
                scope.spawn(move || black_box(part.iter().fold(0u64, |sum, word| sum.wrapping_add(*word))));
            }
        });
        std::mem::size_of_val(&*words) as f64 / begin.elapsed().as_secs_f64().max(1e-6)
    };
    // Other programs can only take some of it away.
    (0..3).map(once).fold(0.0, f64::max)
}

/// Advice before a generation: the model does not know the language, or the built-in pair is used because no
/// model was ever downloaded. One line, short enough for the screen, with the command that helps.
pub fn advice(session: &Session, language: Option<Language>) -> Option<String> {
    if session.settings.server.is_some() {
        return None;
    }
    let catalog = &session.catalog;
    let main = catalog.resolve_main(session.settings.model.as_deref()).ok()?.entry?;
    let unknown = language.filter(|l| !main.languages.is_empty() && !main.languages.contains(l));
    let built_in = main.main.starts_with("embedded:");
    if unknown.is_none() && !built_in {
        return None;
    }
    let knows = |languages: &[Language]| unknown.is_none_or(|l| languages.is_empty() || languages.contains(&l));
    let other = catalog.entries.iter().find(|entry| {
        entry.name != main.name && knows(&entry.languages) && catalog.resolve_main(Some(&entry.name)).is_ok()
    });
    if unknown.is_none() && other.is_some() {
        // A user who has downloaded a model knows the command.
        return None;
    }
    let problem = match unknown {
        Some(language) => {
            let known: Vec<&str> = main.languages.iter().map(|l| l.title()).collect();
            format!("{} knows {}, not {}", main.name, known.join(", "), language.title())
        }
        None => "small built-in pair".to_owned(),
    };
    let (machine, how) = (Machine::counted(), usage(&session.settings));
    let proposal = machine.proposal(catalog, how);
    let help = match (other, proposal) {
        (Some(other), _) => format!("; on this machine is --model {}", other.name),
        (None, Some(p)) if p.entry.name != main.name && knows(&p.entry.languages) => {
            format!("; stronger: bass-tui models pull {}, then {}", p.entry.name, p.flags())
        }
        _ => String::new(),
    };
    Some(problem + &help)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MAIN, ModelFiles, Outline};

    #[test]
    fn int8_gains_on_what_is_read_from_memory() {
        let entry = |dtype: &str, billions: f64| {
            let text = format!(
                "name = 'x'\nmain = 'o/x'\ndtype = '{dtype}'\nparameters = {billions}\nlayers = 1\nkv_width = 1\n"
            );
            Shape::of_entry(&toml::from_str(&text).unwrap()).unwrap()
        };
        insta::assert_snapshot!(gain(&entry("bf16", 1.5), Dtype::Auto).unwrap(), @"a step would read 1.6 GB instead of 3.0 GB: up to 1.9 times as fast where memory is the limit, 1.4 GB less memory (an estimate by bytes; what is written changes a little)");
        assert!(gain(&entry("f32", 1.5), Dtype::Auto).unwrap().contains("up to 3.8 times"));
        assert_eq!(gain(&entry("bf16", 1.5), Dtype::Int4), None);
        let small = Shape::of_model(&Outline::read(&ModelFiles::Embedded(&MAIN)).unwrap());
        assert_eq!(gain(&small, Dtype::Auto), None);
    }
}
