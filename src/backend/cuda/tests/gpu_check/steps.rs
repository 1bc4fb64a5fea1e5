//! Whole steps: a main and a draft model of random weights, drafts of which the main model accepts three.

use std::sync::Arc;
use std::time::Instant;

use super::super::super::CudaNetwork;
use super::super::super::gpu::{Buffer, Gpu};
use super::super::super::matrix::Matrix;
use super::super::super::queue::Queue;
use super::super::send;
use super::ceilings::{median, random};
use super::report::Report;
use super::{Llama, Result, Sizes};
use crate::backend::storage::Storage;
use crate::backend::weights::{BlockWeights, MlpWeights, NormWeights, Weights};
use crate::backend::{Candidate, ChoiceRules, Drafts, Network, Rows, SeqId, Span, Wanted};
use crate::model::ModelSpec;
use crate::sampling::{Accept, Draft, Sampling};

/// Draft tokens of a step, and how many of them are right.
const DRAFTED: usize = 5;
const RIGHT: usize = 3;

/// A network of random weights, in the manner of Llama.
fn network(gpu: &Arc<Gpu>, spec: &ModelSpec, storage: Storage) -> Result<CudaNetwork> {
    let norm = || NormWeights { weight: send(gpu, &vec![1.0f32; spec.hidden]), bias: None };
    let heads = spec.heads;
    let mut seed = 0;
    let mut matrix = |outputs: usize, inputs: usize, storage: Storage| {
        seed += 1;
        random(gpu, (outputs, inputs), storage, seed)
    };
    let end = if storage == Storage::Int4 { Storage::Int8 } else { storage };
    let mut blocks: Vec<BlockWeights<Matrix, Buffer>> = Vec::new();
    for block in &spec.blocks {
        let inner = block.mlp.intermediate;
        let mlp = MlpWeights {
            up: matrix(2 * inner, spec.hidden, storage)?,
            up_bias: None,
            down: matrix(spec.hidden, inner, storage)?,
            down_bias: None,
        };
        blocks.push(BlockWeights {
            attention_norm: norm(),
            attention_output_norm: None,
            qkv: matrix((heads.query + 2 * heads.kv) * heads.dim, spec.hidden, storage)?,
            qkv_bias: None,
            qk_norm: None,
            output: matrix(spec.hidden, heads.query * heads.dim, storage)?,
            output_bias: None,
            mlp_norm: Some(norm()),
            mlp_output_norm: None,
            router: None,
            mlps: vec![mlp],
            delta: None,
            shared: None,
            beside: None,
            input: None,
            output_scale: None,
            router_bias: None,
            sinks: None,
        });
    }
    let weights = Weights {
        embedding: matrix(spec.vocab_size, spec.hidden, end)?,
        positions: None,
        projections: None,
        head: if spec.head.tied { None } else { Some(matrix(spec.vocab_size, spec.hidden, end)?) },
        head_bias: None,
        final_norm: Some(norm()),
        layer_inputs: None,
        blocks,
    };
    Ok(CudaNetwork::with(spec.clone(), weights, storage, Queue::new(gpu, false))?)
}

/// A network whose candidates have read a prompt but for its last token.
struct Reader {
    network: CudaNetwork,
    seqs: Vec<SeqId>,
}

impl Reader {
    /// Reads a prompt; the milliseconds are waited for.
    fn new(mut network: CudaNetwork, prompt: &[u32], batch: usize, tail: usize) -> Result<(Self, f64)> {
        let known = prompt.len() - 1;
        let seq = network.open(known)?;
        let start = Instant::now();
        let span = Span { seq, start: 0, len: known };
        network.forward(&Rows::chain(&prompt[..known], &[span]), Wanted::Nothing)?;
        network.queue.synchronise()?;
        let ms = 1e3 * start.elapsed().as_secs_f64();
        let seqs = network.fork(seq, batch, tail)?;
        Ok((Self { network, seqs }, ms))
    }

    /// Back to the prompt.
    fn rewind(&mut self, prompt: usize) {
        for &seq in &self.seqs {
            self.network.set_len(seq, prompt - 1);
        }
    }

    fn candidates<'a>(&self, texts: &'a [Vec<u32>], len: usize, sampling: &'a Sampling) -> Vec<Candidate<'a>> {
        let vocab = self.network.vocab_size();
        let rules = ChoiceRules { sampling, accept: Accept::Coupled, seed: 0, vocab, alternatives: 0 };
        let each = (0..).zip(self.seqs.iter().zip(texts));
        each.map(|(index, (&seq, text))| Candidate { seq, index, tokens: &text[..len], rules }).collect()
    }
}

/// Results of plain steps, and the milliseconds of each.
struct Plain {
    texts: Vec<Vec<u32>>,
    logprobs: Vec<Vec<u32>>,
    ms: f64,
}

fn plain(main: &mut Reader, prompt: &[u32], steps: usize, sampling: &Sampling) -> Result<Plain> {
    main.rewind(prompt.len());
    let mut texts = vec![prompt.to_vec(); main.seqs.len()];
    let mut logprobs = vec![Vec::new(); main.seqs.len()];
    let mut times = Vec::new();
    for _ in 0..steps {
        let start = Instant::now();
        let candidates = main.candidates(&texts, texts[0].len(), sampling);
        let found = main.network.verify(&candidates, &vec![Drafts::NONE; texts.len()])?;
        times.push(1e3 * start.elapsed().as_secs_f64());
        for ((text, logprobs), of) in texts.iter_mut().zip(&mut logprobs).zip(found) {
            text.extend(of.tokens);
            logprobs.extend(of.logprobs.iter().map(|x| x.to_bits()));
        }
    }
    Ok(Plain { texts, logprobs, ms: median(times.split_off(steps.min(3))) })
}

/// Milliseconds of drafting, of verifying and of both, and whether plain steps give the same tokens with the
/// same log-probabilities.
fn speculative(
    (main, draft): (&mut Reader, &mut Reader),
    prompt: usize,
    plain: &Plain,
    sampling: &Sampling,
) -> Result<([f64; 3], bool)> {
    main.rewind(prompt);
    draft.rewind(prompt);
    let (mut len, mut same) = (prompt, true);
    let mut times: [Vec<f64>; 3] = Default::default();
    let vocab = main.network.vocab_size() as u32;
    while len + RIGHT < plain.texts[0].len() - DRAFTED {
        // Every other step is measured in parts, which takes a wait more.
        let in_parts = times[2].len() > times[0].len();
        let start = Instant::now();
        let candidates = draft.candidates(&plain.texts, len, sampling);
        draft.network.draft(&candidates, &vec![DRAFTED; draft.seqs.len()])?;
        if in_parts {
            draft.network.queue.synchronise()?;
            times[0].push(1e3 * start.elapsed().as_secs_f64());
        }
        let scripted = |text: &Vec<u32>| {
            let token = |i: usize| if i < RIGHT { text[len + i] } else { (text[len + i] + 1) % vocab };
            Drafts::Host((0..DRAFTED).map(|i| Draft::certain(token(i))).collect())
        };
        let drafts: Vec<Drafts> = plain.texts.iter().map(scripted).collect();
        let verifying = Instant::now();
        let found = main.network.verify(&main.candidates(&plain.texts, len, sampling), &drafts)?;
        if in_parts {
            times[1].push(1e3 * verifying.elapsed().as_secs_f64());
        } else {
            times[2].push(1e3 * start.elapsed().as_secs_f64());
        }
        for (i, of) in found.iter().enumerate() {
            let at = len - prompt;
            let bits: Vec<u32> = of.logprobs.iter().map(|x| x.to_bits()).collect();
            same &= of.tokens == plain.texts[i][len..=len + RIGHT] && bits == plain.logprobs[i][at..=at + RIGHT];
        }
        for &seq in &draft.seqs {
            draft.network.set_len(seq, len + RIGHT);
        }
        len += RIGHT + 1;
    }
    // The first are captured.
    let warm = |times: Vec<f64>| median(times[times.len().min(3)..].to_vec());
    Ok((times.map(warm), same))
}

/// A pair of models, and how their weights are stored.
#[derive(Clone, Copy)]
pub struct Pair {
    pub what: &'static str,
    pub main: (Llama, Storage),
    pub draft: (Llama, Storage),
}

/// Both networks of a pair, with the prompt that they have read.
struct Readers {
    prompt: Vec<u32>,
    main: Reader,
    draft: Reader,
    /// Milliseconds in which the main model read it.
    reading: f64,
}

impl Readers {
    fn new(gpu: &Arc<Gpu>, sizes: &Sizes, pair: &Pair) -> Result<Self> {
        let (main_spec, draft_spec) = (pair.main.0.spec()?, pair.draft.0.spec()?);
        let prompt: Vec<u32> =
            (0..sizes.context as u32).map(|i| i.wrapping_mul(7919) % draft_spec.vocab_size as u32).collect();
        let tail = sizes.steps + 2 * DRAFTED;
        let (main, reading) = Reader::new(network(gpu, &main_spec, pair.main.1)?, &prompt, sizes.batch, tail)?;
        let (draft, _) = Reader::new(network(gpu, &draft_spec, pair.draft.1)?, &prompt, sizes.batch, tail)?;
        Ok(Self { prompt, main, draft, reading })
    }
}

/// Steps of a pair, launch by launch and as graphs.
pub fn steps(gpu: &Arc<Gpu>, sizes: &Sizes, (pair, gb): (&Pair, f64), report: &mut Report) -> Result<()> {
    report.part(pair.what);
    let start = Instant::now();
    let Readers { prompt, mut main, mut draft, reading } = Readers::new(gpu, sizes, pair)?;
    report.number("putting random weights there", start.elapsed().as_secs_f64(), "s");
    report.number(format!("reading a prompt of {} tokens", sizes.context), reading, "ms");
    let bytes = main.network.info().weight_bytes + main.network.kv_bytes();
    report.number("weights and K/V", bytes as f64 / 1e9, "GB");
    let floor = bytes as f64 / gb / 1e6;
    report.number("the time of reading these once", floor, "ms");

    let greedy = Sampling::GREEDY;
    let mut found = Vec::new();
    for (eager, how) in [(true, "launch by launch"), (false, "as graphs")] {
        for reader in [&main, &draft] {
            reader.network.queue.set_eager(eager);
        }
        let of_plain = plain(&mut main, &prompt, sizes.steps, &greedy)?;
        let (times, same) = speculative((&mut main, &mut draft), prompt.len(), &of_plain, &greedy)?;
        report.number(format!("plain step, {} candidates, {how}", sizes.batch), of_plain.ms, "ms");
        report.number(format!("{DRAFTED} rounds of drafts, {how}"), times[0], "ms");
        report.number(format!("verifying {} rows, {how}", sizes.batch * (DRAFTED + 1)), times[1], "ms");
        report.number(format!("whole step, {how}"), times[2], "ms");
        report.check(format!("drafts change nothing, {how}"), same, "tokens or log-probabilities differ");
        found.push((of_plain, times));
    }
    let [(eager, _), (graphs, times)] = &found[..] else { return Ok(()) };
    let same = eager.texts == graphs.texts && eager.logprobs == graphs.logprobs;
    report.check("graphs give the same bits", same, "tokens or log-probabilities differ");
    report.at_most("plain step by the time of reading", graphs.ms / floor, "", 1.4);
    report.at_most("verifying by a plain step", times[1] / graphs.ms, "", 1.15);
    let each = times[2] / (RIGHT + 1) as f64;
    report.number(format!("a token of each candidate, {RIGHT} of {DRAFTED} drafts right"), each, "ms");
    report.at_least("speedup over plain steps", graphs.ms / each, "", 1.0);
    Ok(())
}

/// Few steps launch by launch, for a program that measures kernels.
pub fn few(gpu: &Arc<Gpu>, sizes: &Sizes, pair: &Pair) -> Result<()> {
    let Readers { prompt, mut main, mut draft, .. } = Readers::new(gpu, sizes, pair)?;
    for reader in [&main, &draft] {
        reader.network.queue.set_eager(true);
    }
    let of_plain = plain(&mut main, &prompt, sizes.steps, &Sampling::GREEDY)?;
    speculative((&mut main, &mut draft), prompt.len(), &of_plain, &Sampling::GREEDY)?;
    Ok(())
}
