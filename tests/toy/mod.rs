//! A network whose logits depend on the last two tokens through a written-down table, with the bookkeeping of a real one: it refuses
//! rows at wrong positions, remembers what it was fed, and loses what is dropped.

use std::collections::HashMap;
use std::path::Path;

use bass_tui::backend::{BackendError, ChoiceItem, Network, NetworkInfo, Rows, SeqId, Wanted};
use bass_tui::model::Tokenizer;
use bass_tui::sampling::{Accept, Accepted, Distribution, DrawKey, Proposal, Purpose, argmax};

pub const VOCAB: usize = 6;
pub const EOS: u32 = 5;

/// Mistakes that implementations of speculative sampling have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The extra token after a rejection comes from p and not from the residual.
    NoResidual,
    /// A draft is accepted if it is the main model's most probable token.
    ArgmaxOnly,
    /// A draft is accepted if a token drawn from p happens to be the same, and replaced by the residual if not.
    SampleMatch,
    /// p is taken without the filter that q has.
    UnfilteredTarget,
    /// Every draft is accepted.
    AcceptAll,
}

pub const FAULTS: &[Fault] =
    &[Fault::NoResidual, Fault::ArgmaxOnly, Fault::SampleMatch, Fault::UnfilteredTarget, Fault::AcceptAll];

pub struct Toy {
    pub table: Vec<[f32; VOCAB]>,
    context: usize,
    fault: Option<Fault>,
    sequences: Sequences,
    next: u32,
    logits: Vec<[f32; VOCAB]>,
}

/// All sequences are closed when the network goes.
#[derive(Default)]
struct Sequences(HashMap<SeqId, Sequence>);

struct Sequence {
    tokens: Vec<u32>,
    shared: usize,
    capacity: usize,
}

/// Index into the table of a context of two tokens.
pub fn context(last: &[u32]) -> usize {
    let at = |back: usize| last.len().checked_sub(back).map_or(0, |i| last[i] as usize);
    at(2) * VOCAB + at(1)
}

fn noise(i: usize, salt: usize) -> f32 {
    let mut x = (i * 2_654_435_761 + salt * 40_503) as u32;
    x ^= x >> 15;
    x = x.wrapping_mul(0x2c1b_3c6d);
    x ^= x >> 12;
    f32::from(x as u16) / 65536.0
}

impl Toy {
    fn with(blend: f32) -> Self {
        let table = (0..VOCAB * VOCAB)
            .map(|row| {
                std::array::from_fn(|id| 3.0 * (noise(row * VOCAB + id, 1) + blend * noise(row * VOCAB + id, 2)))
            })
            .collect();
        Self { table, context: 512, fault: None, sequences: Sequences::default(), next: 0, logits: Vec::new() }
    }

    pub fn main() -> Self {
        Self::with(0.0)
    }

    /// Like the main network, but not quite.
    pub fn draft() -> Self {
        Self::with(0.6)
    }

    pub fn with_context(self, context: usize) -> Self {
        Self { context, ..self }
    }

    pub fn faulty(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::main() }
    }
}

impl Network for Toy {
    fn vocab_size(&self) -> usize {
        VOCAB
    }

    fn context(&self) -> usize {
        self.context
    }

    fn info(&self) -> NetworkInfo {
        NetworkInfo { device: "cpu", dtype: "f32", kernel: "toy", weight_bytes: 0, threads: 1 }
    }

    fn open(&mut self, capacity: usize) -> Result<SeqId, BackendError> {
        self.next += 1;
        self.sequences.0.insert(SeqId(self.next), Sequence { tokens: Vec::new(), shared: 0, capacity });
        Ok(SeqId(self.next))
    }

    fn fork(&mut self, prompt: SeqId, n: usize, tail: usize) -> Result<Vec<SeqId>, BackendError> {
        let tokens = self.sequences.0[&prompt].tokens.clone();
        let shared = tokens.len();
        let mut forks = Vec::new();
        for _ in 0..n {
            self.next += 1;
            forks.push(SeqId(self.next));
            let sequence = Sequence { tokens: tokens.clone(), shared, capacity: shared + tail };
            self.sequences.0.insert(SeqId(self.next), sequence);
        }
        Ok(forks)
    }

    fn forward(&mut self, rows: &Rows<'_>, want: Wanted) -> Result<usize, BackendError> {
        self.logits.clear();
        let mut tokens = rows.tokens.iter();
        for span in rows.spans {
            let sequence = self.sequences.0.get_mut(&span.seq).expect("an open sequence");
            assert_eq!(span.start, sequence.tokens.len(), "rows start where the valid ones end");
            for row in 0..span.len {
                let token = *tokens.next().expect("a token per row");
                assert!((token as usize) < VOCAB);
                sequence.tokens.push(token);
                assert!(sequence.tokens.len() <= sequence.capacity, "no more positions than asked for");
                if want == Wanted::All || (want == Wanted::Last && row + 1 == span.len) {
                    self.logits.push(self.table[context(&sequence.tokens)]);
                }
            }
        }
        assert!(tokens.next().is_none(), "a span for every token");
        Ok(self.logits.len())
    }

    fn logits(&self, row: usize) -> &[f32] {
        &self.logits[row]
    }

    fn len(&self, seq: SeqId) -> usize {
        self.sequences.0[&seq].tokens.len()
    }

    fn set_len(&mut self, seq: SeqId, len: usize) {
        let sequence = self.sequences.0.get_mut(&seq).expect("an open sequence");
        assert!(len >= sequence.shared && len <= sequence.tokens.len());
        sequence.tokens.truncate(len);
    }

    fn close(&mut self, seq: SeqId) {
        assert!(self.sequences.0.remove(&seq).is_some(), "closed once");
    }

    fn kv_bytes(&self) -> usize {
        // A byte per position that there is room for.
        self.sequences.0.values().map(|sequence| sequence.capacity - sequence.shared).sum()
    }

    fn verify(&mut self, items: &[ChoiceItem<'_>]) -> Vec<Accepted> {
        items
            .iter()
            .map(|item| {
                let row = |i: usize| self.logits(item.row + i);
                match self.fault {
                    None => item.verify(&row),
                    Some(fault) => wrong(fault, item, &row),
                }
            })
            .collect()
    }
}

impl Drop for Sequences {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.0.is_empty(), "every sequence is closed at the end");
        }
    }
}

/// Verification with a mistake in it.
fn wrong<'l>(fault: Fault, item: &ChoiceItem<'_>, row: &dyn Fn(usize) -> &'l [f32]) -> Accepted {
    let rules = &item.rules;
    assert_eq!(rules.accept, Accept::Rejection);
    let mut sampling = *rules.sampling;
    if fault == Fault::UnfilteredTarget {
        sampling.top_p = None;
    }
    let mut tokens = Vec::new();
    for (i, draft) in item.drafts.iter().enumerate() {
        let position = (item.history.len() + i) as u32;
        let key = DrawKey { seed: rules.seed, candidate: item.candidate, position };
        let p = Distribution::new(row(i), &sampling, &[]);
        let Proposal::Drawn(q) = &draft.proposal else { unreachable!("the draft model draws") };
        let u = bass_tui::sampling::uniform(key, Purpose::Accept);
        let ratio = u * f64::from(q.prob(draft.token)) < f64::from(p.prob(draft.token));
        let accepted = match fault {
            Fault::AcceptAll => true,
            Fault::ArgmaxOnly => argmax(row(i)) == draft.token,
            Fault::SampleMatch => p.at(u) == draft.token,
            Fault::NoResidual | Fault::UnfilteredTarget => ratio,
        };
        if !accepted {
            tokens.push(if fault == Fault::NoResidual {
                p.draw(key, Purpose::Residual)
            } else {
                p.draw_residual(q, key)
            });
            return Accepted { accepted: i, logprobs: vec![0.0; tokens.len()], tokens };
        }
        tokens.push(draft.token);
    }
    let at = item.drafts.len();
    let key = DrawKey { seed: rules.seed, candidate: item.candidate, position: (item.history.len() + at) as u32 };
    tokens.push(Distribution::new(row(at), &sampling, &[]).draw(key, Purpose::Sample));
    Accepted { accepted: at, logprobs: vec![0.0; tokens.len()], tokens }
}

/// Any tokenizer will do: the ids are what counts.
pub fn tokenizer() -> Tokenizer {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/models/main/tokenizer.json");
    Tokenizer::read(&path, &std::fs::read(&path).unwrap()).unwrap()
}
