//! Memory that a model takes of this machine, and which one to propose: estimates from the shape of models.

use std::fs;

use super::{Catalog, Entry, Stored};
use crate::backend::Dtype;
use crate::model::blocks::Format;
use crate::model::{Outline, TensorType};

/// Tokens of prompt that are counted with.
pub const PROMPT: u64 = 2048;
/// Bytes of the program and of its buffers.
const WORKING: u64 = 64 << 20;
/// Bytes per position and channel of keys or values: f32.
const KV: u64 = 4;
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
}

impl Shape {
    /// As an entry says it, if it does.
    pub fn of_entry(entry: &Entry) -> Option<Self> {
        let each = match entry.dtype? {
            Stored::F32 => 4.0,
            Stored::F16 | Stored::Bf16 => 2.0,
        };
        let kv = 2 * KV * u64::from(entry.layers?) * u64::from(entry.kv_width?);
        Some(Self { matrices: vec![(entry.parameters? * 1e9, each)], ends: 0.0, vectors: 0.0, kv })
    }

    /// Of a model that is there.
    pub fn of_model(model: &Outline) -> Self {
        let each = |dtype: TensorType| dtype.format().map_or(dtype.block().1 as f64, Format::bytes_of_weight);
        let mut matrices: Vec<(f64, f64)> =
            model.matrices.iter().map(|(dtype, weights)| (*weights as f64, each(*dtype))).collect();
        if matrices.len() > 1 && !model.matrices.iter().any(|(dtype, _)| dtype.format().is_some()) {
            for matrix in &mut matrices {
                matrix.1 = 4.0;
            }
        }
        let heads = model.spec.heads;
        let kv = 2 * KV * (model.spec.blocks.len() * heads.kv * heads.dim) as u64;
        Self { matrices, ends: model.ends as f64, vectors: model.vectors as f64, kv }
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

    /// Bytes of keys and values of `n` candidates of so many tokens.
    pub fn kv(&self, n: usize, tokens: usize) -> u64 {
        let positions = (n as u64).saturating_mul(tokens as u64).saturating_add(PROMPT);
        self.kv.saturating_mul(positions)
    }
}

/// Use of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub dtype: Dtype,
    /// Candidates.
    pub n: usize,
    /// Tokens of each.
    pub tokens: usize,
}

/// Bytes that a pair takes: weights, and keys and values, of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Need {
    pub weights: u64,
    pub kv: u64,
}

impl Need {
    /// Of a main model and its draft model.
    pub fn of(main: &Shape, draft: Option<&Shape>, how: Use) -> Self {
        let add = |sum: Self, shape: &Shape| Self {
            weights: sum.weights.saturating_add(shape.weights(how.dtype)),
            kv: sum.kv.saturating_add(shape.kv(how.n, how.tokens)),
        };
        [Some(main), draft].into_iter().flatten().fold(Self::default(), add)
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
        let draft = entry.draft.as_ref().and_then(|draft| self.entries.iter().find(|e| e.main == *draft));
        Some(Need::of(&main, draft.and_then(Shape::of_entry).as_ref(), how))
    }

    /// The largest recommended model that fits.
    pub fn proposal(&self, memory: u64, how: Use) -> Option<Proposal<'_>> {
        self.proposal_within(memory, how, &|_| true)
    }

    /// The largest recommended model that fits and that `is_fast` accepts.
    pub fn proposal_within(&self, memory: u64, how: Use, is_fast: &dyn Fn(&Proposal) -> bool) -> Option<Proposal<'_>> {
        let fitting = |entry: &'_ Entry| {
            let large = entry.parameters.is_some_and(|billions| billions >= LARGE);
            let dtypes = [Some(Dtype::Auto), Some(Dtype::Int8), large.then_some(Dtype::Int4)];
            dtypes.into_iter().flatten().find_map(|dtype| {
                let need = self.need(entry, Use { dtype, ..how })?;
                need.fits(memory).then_some((dtype, need))
            })
        };
        let recommended = self.entries.iter().filter(|entry| entry.recommended);
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

    const HOW: Use = Use { dtype: Dtype::Auto, n: 8, tokens: 256 };

    fn catalog() -> Catalog {
        let hub = HubCache { folder: "/hub".into() };
        Catalog::parse("", Path::new("models.toml"), hub, Others::default()).unwrap()
    }

    #[test]
    fn machines_get_the_largest_that_fits() {
        let catalog = catalog();
        let proposed = |gb: f64| catalog.proposal((gb * 1e9) as u64, HOW).map(|p| p.flags()).unwrap_or_default();
        insta::assert_snapshot!(
            [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 64.0, 128.0].map(|gb| format!("{gb:>5} GB {}", proposed(gb))).join("\n"),
            @r"
          0.5 GB 
            1 GB --model qwen2.5-coder-0.5b --dtype int8
            2 GB --model qwen2.5-coder-0.5b
            4 GB --model qwen2.5-coder-1.5b --dtype int8
            8 GB --model qwen2.5-coder-7b --dtype int4
           16 GB --model qwen2.5-coder-14b --dtype int4
           24 GB --model qwen2.5-coder-14b --dtype int8
           64 GB --model qwen2.5-coder-32b --dtype int8
          128 GB --model qwen2.5-coder-32b
        "
        );
        for proposal in [1.0, 4.0, 16.0].map(|gb| catalog.proposal((gb * 1e9) as u64, HOW)) {
            assert!(proposal.is_some_and(|p| p.need.weights > 0));
        }
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
        assert_eq!(pair.weights, 15_232_000_000 + 988_000_000);
        assert!(pair.kv > main.kv(8, 256) && pair.fits(32 << 30) && !pair.fits(16 << 30));
        assert_eq!(main.kv(usize::MAX, usize::MAX), u64::MAX);

        let outline = Outline::read(&ModelFiles::Embedded(&MAIN)).unwrap();
        let shape = Shape::of_model(&outline);
        let parameters = outline.parameters() as f64;
        let bytes = shape.weights(Dtype::Auto) as f64;
        assert!((2.0..2.2).contains(&(bytes / parameters)), "{bytes} for {parameters}");
        assert!(shape.weights(Dtype::Int4) < shape.weights(Dtype::Int8));
        assert!(of_machine().is_some_and(|memory| memory > 100 << 20));
    }
}
