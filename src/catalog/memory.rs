//! Memory that a model takes of this machine, and which one to propose: estimates from the shape of models.

use std::fs;

use super::{Catalog, Entry, Stored};
use crate::backend::Dtype;
use crate::model::Outline;

/// Tokens of prompt that are counted with.
pub const PROMPT: u64 = 2048;
/// Bytes of the program and of its buffers.
const WORKING: u64 = 64 << 20;
/// Bytes per position and channel of keys or values: f32.
const KV: u64 = 4;
/// States of a prompt: the last one, and earlier ones for prompts that begin alike.
const STATES: u64 = 5;
/// Bytes of a weight in blocks of 32 with a bf16 scale.
const INT8: f64 = 1.0 + 2.0 / 32.0;
const INT4: f64 = 0.5 + 2.0 / 32.0;
/// From this many billions of weights on, 4 bits lose less than a model of half the size does.
const LARGE: f64 = 3.0;

/// Shape that the memory of a model depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Weights of matrices, and the bytes of each as stored.
    matrices: Vec<(f64, f64)>,
    /// Those in embedding and head.
    ends: f64,
    /// All other weights.
    vectors: f64,
    /// Bytes of keys and values of a position.
    kv: u64,
    /// Bytes of the state of a sequence, whatever its length.
    state: u64,
    experts: Option<Sparse>,
}

/// Weights of which a token reads some.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sparse {
    /// Share of the weights that are in experts.
    share: f64,
    /// Share of the experts that a token reads.
    used: f64,
}

impl Sparse {
    /// Share of all weights that a step of `rows` rows reads, each of which chooses its experts by itself.
    fn read(self, rows: usize) -> f64 {
        let chosen = 1.0 - (1.0 - self.used).powi(i32::try_from(rows).unwrap_or(i32::MAX));
        1.0 - self.share * (1.0 - chosen)
    }
}

impl Shape {
    /// As an entry says it, if it does.
    pub fn of_entry(entry: &Entry) -> Option<Self> {
        let weights = entry.parameters? * 1e9;
        let each = match (entry.size, entry.dtype) {
            (Some(size), _) => size * 1e9 / weights,
            (None, dtype) => match dtype? {
                Stored::F32 => 4.0,
                Stored::F16 | Stored::Bf16 => 2.0,
            },
        };
        let kv = 2 * KV * u64::from(entry.layers?) * u64::from(entry.kv_width?);
        let state = (entry.state.unwrap_or_default() * 1e6) as u64 * KV;
        // All weights are `parameters`; those outside of experts and the used ones of these are `active`. Without
        // experts the others are tables, of which a token reads a row.
        let used = entry.experts.map_or(0.0, |[used, count]| f64::from(used) / f64::from(count));
        let share = |active: f64| ((1.0 - active * 1e9 / weights) / (1.0 - used)).clamp(0.0, 1.0);
        let experts = entry.active.filter(|_| used < 1.0).map(|active| Sparse { share: share(active), used });
        Some(Self { matrices: vec![(weights, each)], ends: 0.0, vectors: 0.0, kv, state, experts })
    }

    /// Of a model that is there.
    pub fn of_model(model: &Outline) -> Self {
        let mut matrices: Vec<(f64, f64)> =
            model.matrices.iter().map(|(dtype, weights)| (*weights as f64, dtype.bytes_of_weight())).collect();
        if matrices.len() > 1 && !model.matrices.iter().any(|(dtype, _)| dtype.format().is_some()) {
            for matrix in &mut matrices {
                matrix.1 = 4.0;
            }
        }
        let of_block = |block: usize| {
            let heads = model.spec.heads_of(block);
            if model.spec.makes_keys(block) { heads.kv * heads.dim } else { 0 }
        };
        let kv = 2 * KV * (0..model.spec.blocks.len()).map(of_block).sum::<usize>() as u64;
        let state = model.spec.blocks.iter().filter_map(|block| Some(KV * block.delta?.state() as u64)).sum();
        Self { matrices, ends: model.ends as f64, vectors: model.vectors as f64, kv, state, experts: None }
    }

    /// Bytes of the weights.
    pub fn weights(&self, dtype: Dtype) -> u64 {
        let all: f64 = self.matrices.iter().map(|(weights, _)| weights).sum();
        let matrices = match dtype {
            Dtype::Auto => self.matrices.iter().map(|(weights, each)| weights * each).sum(),
            Dtype::F32 => all * 4.0,
            Dtype::Bf16 => all * 2.0,
            Dtype::Int8 => all * INT8,
            Dtype::Int4 => (all - self.ends) * INT4 + self.ends * INT8,
        };
        (matrices + self.vectors * 4.0) as u64
    }

    /// Its storage as a draft model.
    fn dtype_of_draft(&self, how: Use) -> Dtype {
        let weights: f64 = self.matrices.iter().map(|(weights, _)| weights).sum();
        let bytes: f64 = self.matrices.iter().map(|(weights, each)| weights * each).sum();
        how.draft_dtype.of_draft(how.dtype, weights, bytes / weights)
    }

    /// Bytes of the weights that a step of `n` candidates reads.
    pub fn read(&self, dtype: Dtype, n: usize) -> u64 {
        let share = self.experts.map_or(1.0, |experts| experts.read(n));
        (self.weights(dtype) as f64 * share) as u64
    }

    /// Bytes of keys and values of `n` candidates of so many tokens, and of the states of these and their
    /// prompt.
    pub fn kv(&self, n: usize, tokens: usize) -> u64 {
        let positions = (n as u64).saturating_mul(tokens as u64).saturating_add(PROMPT);
        self.kv.saturating_mul(positions).saturating_add(self.state.saturating_mul((n as u64).saturating_add(STATES)))
    }
}

/// Use of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub dtype: Dtype,
    /// As it is asked for of a draft model.
    pub draft_dtype: Dtype,
    /// Candidates.
    pub n: usize,
    /// Tokens of each.
    pub tokens: usize,
}

/// Bytes that a pair takes: weights, and keys and values, of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    pub weights: u64,
    /// Bytes of the weights that a step of all candidates reads.
    pub read: u64,
    pub kv: u64,
}

impl Need {
    /// Of a main model and its draft model.
    pub fn of(main: &Shape, draft: Option<&Shape>, how: Use) -> Self {
        let add = |sum: Self, (shape, dtype): (&Shape, Dtype)| Self {
            weights: sum.weights.saturating_add(shape.weights(dtype)),
            read: sum.read.saturating_add(shape.read(dtype, how.n)),
            kv: sum.kv.saturating_add(shape.kv(how.n, how.tokens)),
        };
        let draft = draft.map(|draft| (draft, draft.dtype_of_draft(how)));
        [Some((main, how.dtype)), draft].into_iter().flatten().fold(Self::default(), add)
    }

    pub fn bytes(self) -> u64 {
        self.weights.saturating_add(self.kv).saturating_add(WORKING)
    }

    /// True if it leaves a quarter of the memory to everything else.
    pub fn fits(self, memory: u64) -> bool {
        self.bytes() <= memory / 4 * 3
    }
}

/// A model to propose.
#[derive(Debug)]
pub struct Proposal<'a> {
    pub entry: &'a Entry,
    /// The first of as stored, int8 and int4 in which it fits.
    pub dtype: Dtype,
    pub need: Need,
}

impl Proposal<'_> {
    /// The flags that choose it.
    pub fn flags(&self) -> String {
        match self.dtype {
            Dtype::Auto => format!("--model {}", self.entry.name),
            dtype => format!("--model {} --dtype {dtype}", self.entry.name),
        }
    }
}

impl Catalog {
    /// Bytes that an entry takes by what it says itself, its draft by that one's entry.
    pub fn need(&self, entry: &Entry, how: Use) -> Option<Need> {
        let main = Shape::of_entry(entry)?;
        let draft = entry.draft.as_ref().and_then(|draft| self.by_main(draft));
        Some(Need::of(&main, draft.and_then(Shape::of_entry).as_ref(), how))
    }

    /// The largest recommended model that can be read, fits, and that `is_fast` accepts.
    pub fn proposal(&self, memory: u64, how: Use, is_fast: &dyn Fn(&Proposal) -> bool) -> Option<Proposal<'_>> {
        let fitting = |entry: &'_ Entry| {
            let large = entry.parameters.is_some_and(|billions| billions >= LARGE);
            // Weights that are quantised already are taken as they are.
            let stored = entry.size.is_none();
            let dtypes = [Some(Dtype::Auto), stored.then_some(Dtype::Int8), (stored && large).then_some(Dtype::Int4)];
            dtypes.into_iter().flatten().find_map(|dtype| {
                let need = self.need(entry, Use { dtype, ..how })?;
                need.fits(memory).then_some((dtype, need))
            })
        };
        let recommended = self.entries.iter().filter(|entry| entry.recommended && entry.unreadable().is_none());
        let found = recommended.filter_map(|entry| {
            let (dtype, need) = fitting(entry)?;
            Some(Proposal { entry, dtype, need }).filter(|proposal| is_fast(proposal))
        });
        found.max_by(|a, b| a.entry.parameters.unwrap_or(0.0).total_cmp(&b.entry.parameters.unwrap_or(0.0)))
    }
}

/// Memory of this machine in bytes, or as much of it as this process may have; `None` if the system doesn't
/// say.
pub fn of_machine() -> Option<u64> {
    let ask = |what| {
        // SAFETY: a question with a constant; it touches no memory.
        let answer = unsafe { libc::sysconf(what) };
        u64::try_from(answer).ok().filter(|answer| *answer > 0)
    };
    let physical = ask(libc::_SC_PHYS_PAGES).and_then(|pages| pages.checked_mul(ask(libc::_SC_PAGESIZE)?));
    let limit = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let limits = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    physical.into_iter().chain(limits.into_iter().filter_map(limit)).min()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::catalog::Others;
    use crate::hub::HubCache;
    use crate::model::{MAIN, ModelFiles};

    const HOW: Use = Use { dtype: Dtype::Auto, draft_dtype: Dtype::Auto, n: 8, tokens: 256 };
    /// Bytes of a draft model of 494 million weights in int4.
    const DRAFT: u64 = 277_875_000;

    fn catalog() -> Catalog {
        let hub = HubCache { folder: "/hub".into() };
        Catalog::parse("", Path::new("models.toml"), hub, Others::default()).unwrap()
    }

    #[test]
    fn machines_get_the_largest_that_fits() {
        let catalog = catalog();
        let proposed =
            |gb: f64| catalog.proposal((gb * 1e9) as u64, HOW, &|_| true).map(|p| p.flags()).unwrap_or_default();
        insta::assert_snapshot!(
            [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 64.0, 128.0].map(|gb| format!("{gb:>5} GB {}", proposed(gb))).join("\n"),
            @r"
          0.5 GB 
            1 GB --model qwen2.5-coder-0.5b-instruct
            2 GB --model qwen2.5-coder-0.5b-instruct
            4 GB --model qwen2.5-coder-1.5b-instruct
            8 GB --model qwen2.5-coder-7b-instruct
           16 GB --model qwen2.5-coder-14b-instruct
           24 GB --model qwen2.5-coder-14b-instruct
           64 GB --model qwen2.5-coder-32b-instruct
          128 GB --model qwen2.5-coder-32b-instruct
        "
        );
        for proposal in [1.0, 4.0, 16.0].map(|gb| catalog.proposal((gb * 1e9) as u64, HOW, &|_| true)) {
            assert!(proposal.is_some_and(|p| p.need.weights > 0));
        }
    }

    #[test]
    fn of_experts_a_step_reads_what_its_rows_choose() {
        let catalog = catalog();
        let entry = catalog.entry("qwen3-coder-30b-a3b").unwrap();
        let shape = Shape::of_entry(entry).unwrap();
        let billions = |rows| shape.read(Dtype::Auto, rows) as f64 / 2e9;
        assert!((billions(1) - entry.active.unwrap()).abs() < 1e-3, "{}", billions(1));
        // 8 of 128 for each of 8 rows, some of them twice.
        assert!((12.0..14.0).contains(&billions(8)), "{}", billions(8));
        assert!((billions(10_000) - entry.parameters.unwrap()).abs() < 1e-3);
        let dense = Shape::of_entry(catalog.entry("qwen2.5-coder-7b").unwrap()).unwrap();
        assert_eq!(dense.read(Dtype::Auto, 1), dense.weights(Dtype::Auto));
        assert_eq!(catalog.need(entry, HOW).unwrap().read, shape.read(Dtype::Auto, HOW.n) + DRAFT);
    }

    #[test]
    fn what_a_model_takes_is_counted_from_its_shape() {
        let catalog = catalog();
        let seven = catalog.entry("qwen2.5-coder-7b").unwrap();
        let main = Shape::of_entry(seven).unwrap();
        // 28 layers of 512 channels of keys and as many of values, in f32.
        assert_eq!(main.kv(8, 256), 28 * 512 * 2 * 4 * (2048 + 8 * 256));
        assert_eq!(main.weights(Dtype::Bf16), 15_232_000_000);
        assert_eq!(main.weights(Dtype::Int8), 8_092_000_000);
        let pair = catalog.need(seven, HOW).unwrap();
        assert_eq!(pair.weights, 15_232_000_000 + DRAFT);
        let as_stored = catalog.need(seven, Use { draft_dtype: Dtype::Bf16, ..HOW }).unwrap();
        assert_eq!(as_stored.weights, 15_232_000_000 + 988_000_000);
        assert!(pair.kv > main.kv(8, 256) && pair.fits(32 << 30) && !pair.fits(16 << 30));
        assert_eq!(main.kv(usize::MAX, usize::MAX), u64::MAX);

        // States count for each candidate and a few times for the prompt, whatever the number of tokens; only
        // two of six blocks have keys and values.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/models/qwen3-5");
        let shape = Shape::of_model(&Outline::read(&ModelFiles::Folder(folder)).unwrap());
        let state = 4 * 4 * (4 * 16 * 24 + 3 * 160);
        assert_eq!(shape.kv(8, 256), 2 * 2 * 4 * 64 * (2048 + 8 * 256) + 13 * state);
        // Layers without keys and values have a state instead, one for each sequence and one for the prompt.
        let hybrid = Entry { state: Some(5.0), layers: Some(6), ..seven.clone() };
        let hybrid = Shape::of_entry(&hybrid).unwrap();
        assert_eq!(hybrid.kv(8, 256), 6 * 512 * 2 * 4 * (2048 + 8 * 256) + 13 * 5_000_000 * 4);
        // A GGUF file takes what it has on the disk.
        let quantised = Entry { size: Some(4.68), dtype: None, ..seven.clone() };
        assert_eq!(Shape::of_entry(&quantised).unwrap().weights(Dtype::Auto), 4_680_000_000);

        let outline = Outline::read(&ModelFiles::Embedded(&MAIN)).unwrap();
        let shape = Shape::of_model(&outline);
        let parameters = outline.parameters() as f64;
        let bytes = shape.weights(Dtype::Auto) as f64;
        assert!((2.0..2.2).contains(&(bytes / parameters)), "{bytes} for {parameters}");
        assert!(shape.weights(Dtype::Int4) < shape.weights(Dtype::Int8));
        assert!(of_machine().is_some_and(|memory| memory > 100 << 20));
    }
}
