//! The kernels: their sources, names, and parameters, which are the structs of the sources. `kernels/` says
//! what each computes.

use std::marker::PhantomData;
use std::sync::LazyLock;

use crate::backend::plain::Plain;
use crate::backend::storage::{Bits, Format, Kind, Storage};
use crate::sampling::Sampling;

/// The sources as one text. Kernels over tiles are made for each storage of a list.
pub static SOURCE: LazyLock<String> = LazyLock::new(|| {
    let of = |&Storaged { number, storage, .. }: &Storaged| {
        let name = storage.name();
        let taken = match (storage, storage.format()) {
            (_, Some(Format { bits, kind })) => format!("Codes<{}, {}>", bits as u8, kind as u8),
            (Storage::Bf16, None) => "Floats<Bf16>".to_owned(),
            (_, None) => "Floats<F16>".to_owned(),
        };
        (format!("typedef {taken} storage_{name};\n"), format!("EACH({number}, {name}, storage_{name})"))
    };
    let (types, list): (Vec<_>, Vec<_>) = TILED.iter().map(of).unzip();
    let list = format!("#define TILED_STORAGES(EACH) {}\n", list.join(" "));
    [HEADERS.concat(), tables(), types.concat(), list, KERNELS.concat()].concat()
});

/// `Table` of `kernels/weights.cuh` for all codes that are places in a table.
fn tables() -> String {
    let mut known = Vec::new();
    for bits in TILED.iter().filter_map(|tiled| Some(tiled.storage.format()?.bits)) {
        if !known.contains(&bits) {
            known.push(bits);
        }
    }
    let of = |bits: Bits| {
        let words = bits.table()?.as_chunks::<4>().0.iter().zip(["FIRST", "SECOND", "THIRD", "FOURTH"]);
        let word = |(four, name): (&[i8; 4], &str)| {
            let bytes = four.map(|number| (i32::from(number) + bits.offset()) as u8);
            format!("{name} = {:#x}u", u32::from_le_bytes(bytes))
        };
        let words = words.map(word).collect::<Vec<_>>().join(", ");
        Some(format!("template <> struct Table<{}> {{ enum : u32 {{ {words} }}; }};\n", bits as u8))
    };
    known.into_iter().filter_map(of).collect()
}

const HEADERS: [&str; 2] = [include_str!("../../../kernels/prelude.cuh"), include_str!("../../../kernels/weights.cuh")];

const KERNELS: &[&str] = &[
    include_str!("../../../kernels/embedding.cu"),
    include_str!("../../../kernels/norm.cu"),
    include_str!("../../../kernels/rotary.cu"),
    include_str!("../../../kernels/gemm.cu"),
    include_str!("../../../kernels/inputs.cu"),
    include_str!("../../../kernels/tiles.cu"),
    include_str!("../../../kernels/experts.cu"),
    include_str!("../../../kernels/attention.cu"),
    include_str!("../../../kernels/elementwise.cu"),
    include_str!("../../../kernels/gates.cu"),
    include_str!("../../../kernels/delta.cu"),
    include_str!("../../../kernels/layer_inputs.cu"),
    include_str!("../../../kernels/sampling.cu"),
    #[cfg(test)]
    include_str!("../../../kernels/measure.cu"),
];

/// An address in the memory of a device; 0 is none.
pub type Pointer = u64;

/// A kernel that takes a `P`.
pub struct Kernel<P> {
    /// Its name in the sources.
    pub name: &'static str,
    /// Threads of a block.
    pub threads: u32,
    params: PhantomData<P>,
}

const fn kernel<P>(name: &'static str, threads: u32) -> Kernel<P> {
    Kernel { name, threads, params: PhantomData }
}

macro_rules! kernels {
    ($($(#[$attribute:meta])* $constant:ident: $name:literal, $threads:literal, $params:ident;)*) => {
        $(#[doc = concat!("`", $name, "`")]
        $(#[$attribute])*
        pub const $constant: Kernel<$params> = kernel($name, $threads);)*

        /// Names and threads of the kernels that no storage has for itself.
        const COMMON: &[(&str, u32)] = &[$($(#[$attribute])* ($name, $threads)),*];
    };
}

kernels! {
    EMBED_TOKENS: "embed_tokens", 128, EmbedTokens;
    ADD_POSITIONS: "add_positions", 128, AddPositions;
    NORM_ROWS: "norm_rows", 256, NormRows;
    ROTARY_STORE: "rotary_store", 128, RotaryStore;
    GEMM_F32: "gemm_f32", 256, Gemm;
    SPLIT_BF16: "split_bf16", 256, Split;
    SPLIT_F16: "split_f16", 256, Split;
    ROUND_F16: "round_f16", 256, Split;
    CHOOSE_EXPERTS: "choose_experts", 32, ChooseExperts;
    GROUP_CHOICES: "group_choices", 256, GroupChoices;
    GEMM_EXPERTS_F32: "gemm_experts_f32", 256, ExpertGemm;
    ADD_EXPERTS: "add_experts", 128, AddExperts;
    ATTENTION_CHUNK: "attention_chunk", 256, AttentionChunk;
    ATTENTION_MERGE: "attention_merge", 128, AttentionMerge;
    ACTIVATE: "activate", 256, Activate;
    ADD_SCALED: "add_scaled", 256, AddScaled;
    GATE_ROWS: "gate_rows", 256, GateRows;
    ADD_GATED: "add_gated", 256, AddGated;
    DELTA_MIX: "delta_mix", 128, DeltaMix;
    DELTA_RECUR: "delta_recur", 128, DeltaRecur;
    DELTA_RECUR_128: "delta_recur_128", 128, DeltaRecur;
    DELTA_GATE: "delta_gate", 128, DeltaGate;
    SCALE_VALUES: "scale_values", 256, ScaleValues;
    MIX_INPUTS: "mix_inputs", 128, MixInputs;
    GATE_INPUTS: "gate_inputs", 256, GateInputs;
    GATHER_ROWS: "gather_rows", 128, GatherRows;
    CHOOSE_TOKENS: "choose_tokens", 512, ChooseTokens;
    PLACE_TOKENS: "place_tokens", 128, PlaceTokens;
    #[cfg(test)]
    ATTENTION_PADDED: "attention_padded", 256, AttentionChunk;
    #[cfg(test)]
    READ_MEMORY: "read_memory", 256, ReadMemory;
}

/// A storage with kernels of its own, over tiles.
struct Storaged {
    /// Its number for kernels.
    number: usize,
    storage: Storage,
    /// Names of its kernels: products, and those of experts.
    names: [String; 2],
}

/// Storages that kernels have, each with its number: of those with the same codes and factors the first.
pub fn storages() -> impl Iterator<Item = Storage> {
    let mut formats = Vec::new();
    Storage::all().filter(move |storage| match storage.format() {
        None => true,
        Some(format) if !has_codes(format) || formats.contains(&format) => false,
        Some(format) => {
            formats.push(format);
            true
        }
    })
}

/// `Codes` of `kernels/weights.cuh` have these.
pub fn has_codes(Format { bits, kind }: Format) -> bool {
    match bits {
        Bits::Four | Bits::Five | Bits::Six | Bits::Eight => {
            matches!(kind, Kind::Bf16 | Kind::F16 | Kind::F16Added | Kind::Minima | Kind::Halves)
        }
        Bits::Uneven | Bits::Float => matches!(kind, Kind::F16 | Kind::Signed | Kind::Exponent),
        _ => false,
    }
}

static TILED: LazyLock<Vec<Storaged>> = LazyLock::new(|| {
    let tiled = storages().enumerate().filter(|(_, storage)| *storage != Storage::F32);
    let names = |storage: Storage| ["tiles", "tiles_experts"].map(|of| format!("{of}_{}", storage.name()));
    tiled.map(|(number, storage)| Storaged { number, storage, names: names(storage) }).collect()
});

/// Threads of a block of these.
const TILES_THREADS: u32 = 256;

/// Products with weights of a storage over tiles, and those of experts; `None` for f32.
pub fn tiles(storage: Storage) -> Option<(Kernel<Tiles>, Kernel<ExpertTiles>)> {
    let [all, experts] = &TILED.iter().find(|tiled| tiled.storage == storage)?.names;
    Some((kernel(all, TILES_THREADS), kernel(experts, TILES_THREADS)))
}

/// Names and threads of all kernels.
pub fn all() -> impl Iterator<Item = (&'static str, u32)> {
    let names = TILED.iter().flat_map(|tiled| &tiled.names);
    COMMON.iter().copied().chain(names.map(|name| (name.as_str(), TILES_THREADS)))
}

macro_rules! plain {
    ($($(#[$attribute:meta])* struct $name:ident { $($field:ident: $type:ty),* $(,)? })*) => {
        $(
            $(#[$attribute])*
            #[derive(Clone, Copy, Debug)]
            #[repr(C)]
            #[allow(missing_docs, reason = "the sources of the kernels say it")]
            #[allow(clippy::struct_field_names, reason = "as above")]
            pub struct $name { $(pub $field: $type,)* }

            $(#[$attribute])*
            const _: () = assert!(size_of::<$name>() == 0 $(+ size_of::<$type>())*, "no padding");

            $(#[$attribute])*
            // SAFETY: checked above.
            unsafe impl Plain for $name {}
        )*
    };
}

// Parameters of kernels and what they read in memory.
plain! {
    /// Rows of one sequence in a pass, and where its K/V is.
    struct Rows { shared: Pointer, own: Pointer, shared_len: i32, shared_capacity: i32, own_capacity: i32, start: i32,
        first_row: i32, rows: i32 }
    /// Rows that attention computes together.
    struct Tile { span: i32, position: i32, row: i32, rows: i32, chunk: i32, end: i32 }
    /// A matrix of weights, with its bias where it has one.
    struct Matrix { codes: Pointer, upper: Pointer, scales: Pointer, units: Pointer, bias: Pointer, storage: i32,
        outputs: i32, inputs: i32, stride: i32 }
    struct EmbedTokens { table: Matrix, tokens: Pointer, out: Pointer, scale: f32, padding: i32 }
    struct AddPositions { table: Pointer, x: Pointer, spans: Pointer, row_spans: Pointer, offset: i32, width: i32 }
    struct NormRows { x: Pointer, out: Pointer, weight: Pointer, bias: Pointer, x_stride: i32, out_stride: i32,
        per_row: i32, width: i32, eps: f32, centred: i32 }
    struct RotaryStore { qkv: Pointer, table: Pointer, growth: Pointer, spans: Pointer, row_spans: Pointer, heads: i32,
        kv_heads: i32, dim: i32, pairs: i32, interleaved: i32, before: i32, stride: i32, padding: i32 }
    struct Gemm { matrix: Matrix, x: Pointer, out: Pointer, rows: i32, out_stride: i32, add: i32, padding: i32 }
    struct Split { x: Pointer, parts: Pointer, sums: Pointer, scales: Pointer, rows: i32, inputs: i32, tiles: i32,
        blocks: i32 }
    struct Tiles { matrix: Matrix, x: Pointer, sums: Pointer, scales: Pointer, out: Pointer, partial: Pointer,
        arrived: Pointer, rows: i32, out_stride: i32, add: i32, tiles: i32, pass: i32, slice: i32, groups: i32,
        stages: i32 }
    struct ChooseExperts { logits: Pointer, positions: Pointer, factors: Pointer, chosen: Pointer, shares: Pointer,
        count: i32, used: i32, normalised: i32, padding: i32 }
    struct GroupChoices { chosen: Pointer, rows: Pointer, places: Pointer, together: Pointer, choices: i32, used: i32,
        experts: i32, groups: i32, most: i32, padding: i32 }
    /// Choices of one expert that are multiplied together.
    struct Together { expert: i32, count: i32 }
    /// A part of an expert's matrix.
    struct ExpertPart { matrix: Matrix, first: i32, padding: i32 }
    struct ExpertGemm { parts: Pointer, together: Pointer, x: Pointer, out: Pointer, out_stride: i32, padding: i32 }
    struct ExpertTiles { parts: Pointer, together: Pointer, x: Pointer, sums: Pointer, scales: Pointer, out: Pointer,
        out_stride: i32, groups: i32, slice: i32, slices: i32, stages: i32, padding: i32 }
    struct AddExperts { chosen: Pointer, shares: Pointer, places: Pointer, x: Pointer, out: Pointer, used: i32,
        width: i32, add: i32, padding: i32 }
    struct AttentionChunk { qkv: Pointer, sums: Pointer, norms: Pointer, spans: Pointer, tiles: Pointer,
        positions: Pointer, q_stride: i32,
        before: i32, kv_heads: i32, group: i32, dim: i32, rows: i32, window: i32, scale: f32, soft_cap: f32,
        padded: i32, keys: i32, stages: i32 }
    struct AttentionMerge { sums: Pointer, norms: Pointer, positions: Pointer, sinks: Pointer, out: Pointer, rows: i32,
        heads: i32, dim: i32, window: i32 }
    struct Activate { x: Pointer, out: Pointer, rows: i32, width: i32, kind: i32, gated: i32 }
    struct AddScaled { branch: Pointer, x: Pointer, len: u64, scale: f32, padding: i32 }
    struct GateRows { gates: Pointer, out: Pointer, rows: i32, width: i32, stride: i32, padding: i32 }
    struct AddGated { x: Pointer, gates: Pointer, out: Pointer, rows: i32, width: i32 }
    /// Sizes of a gated delta net.
    struct DeltaNet { key_heads: i32, value_heads: i32, key_dim: i32, value_dim: i32, width: i32, tiled: i32 }
    /// Rows of one sequence for its states.
    struct DeltaPiece { from: Pointer, to: Pointer, log: Pointer, log_first: i32, log_rows: i32, again: i32, rows: i32,
        settle: i32, first_row: i32, place: i32, padding: i32 }
    struct DeltaMix { net: DeltaNet, pieces: Pointer, inputs: Pointer, steps: Pointer, filter: Pointer,
        step_bias: Pointer, rate: Pointer, mixed: Pointer, rates: Pointer, stride: i32, layer: i32 }
    struct DeltaRecur { net: DeltaNet, pieces: Pointer, mixed: Pointer, rates: Pointer, out: Pointer, layer: i32,
        padding: i32 }
    struct DeltaGate { x: Pointer, gates: Pointer, weight: Pointer, positions: Pointer, out: Pointer, heads: i32,
        dim: i32, stride: i32, eps: f32 }
    struct ScaleValues { x: Pointer, len: u64, scale: f32, soft_cap: f32 }
    struct MixInputs { table: Matrix, tokens: Pointer, x: Pointer, root: f32, padding: i32 }
    struct GateInputs { gates: Pointer, inputs: Pointer, out: Pointer, rows: i32, width: i32, stride: i32, kind: i32 }
    struct GatherRows { x: Pointer, rows: Pointer, out: Pointer, width: i32, padding: i32 }
    /// Temperature and filters of a row.
    struct Filters { temperature: f32, top_p: f32, min_p: f32, penalty: f32, top_k: i32 }
    /// How the token of a row is chosen.
    struct Choice { history: Pointer, drafts: Pointer, draft_probs: Pointer, probs: Pointer, seed: u64, candidate: u32,
        position: u32, filters: Filters, history_len: i32, row: i32, number: i32, mode: i32, coupled: i32, vocab: i32,
        draft_vocab: i32 }
    /// The token that was chosen.
    struct Chosen { token: u32, logprob: f32, accepted: u32 }
    struct ChooseTokens { logits: Pointer, choices: Pointer, scratch: Pointer, chosen: Pointer, vocab: i32, padding: i32 }
    /// A token of a pass that lies in the memory of the GPU.
    struct Patch { token: Pointer, row: i32, padding: i32 }
    #[cfg(test)]
    struct ReadMemory { from: Pointer, out: Pointer, count: u64 }
    struct PlaceTokens { patches: Pointer, tokens: Pointer, count: i32, padding: i32 }
}

impl Matrix {
    /// No weights.
    pub const NONE: Self =
        Self { codes: 0, upper: 0, scales: 0, units: 0, bias: 0, storage: -1, outputs: 0, inputs: 0, stride: 0 };
}

impl Filters {
    /// Settings for a vocabulary of this size: what is not set is a number without effect.
    pub fn new(sampling: &Sampling, vocab: usize) -> Self {
        Self {
            temperature: sampling.temperature,
            top_p: sampling.top_p.unwrap_or(1.0),
            min_p: sampling.min_p.unwrap_or(0.0),
            penalty: sampling.repetition_penalty.unwrap_or(1.0),
            top_k: sampling.top_k.map_or(0, |k| k.min(vocab) as i32),
        }
    }
}

/// Rows and outputs of a block of `gemm_f32`, and what it needs of shared memory.
pub const GEMM_ROWS: usize = 8;
/// See [`GEMM_ROWS`].
pub const GEMM_OUTPUTS: usize = 32;
/// See [`GEMM_ROWS`].
pub const GEMM_MEMORY: usize = GEMM_ROWS * GEMM_OUTPUTS * 33 * size_of::<f32>();

/// How the names of kernels begin that may ask for all shared memory that a block may have.
pub const LARGE: [&str; 2] = ["attention_", "tiles_"];

/// Shared memory of `choose_tokens`.
pub const CHOICE_MEMORY: usize = 512 * (size_of::<f64>() + size_of::<u32>()) + 16 * size_of::<f64>();

/// Positions of a chunk of attention
pub const CHUNK: usize = 128;

/// Most queries of a block of attention, and most channels of a stage.
pub const QUERIES: usize = 32;
const STAGE_DIMS: usize = 128;

/// Room of a block of `attention_chunk` in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionRoom {
    /// Bytes.
    pub memory: usize,
    /// Positions of a stage.
    pub keys: usize,
    /// Stages.
    pub stages: usize,
}

/// Room for so many queries at once, where a block may have `limit` bytes, of a unit that has as much for all:
/// two blocks share it where both have two stages of 64 positions. `None` where there is none for two of 32.
pub fn attention_room(queries: usize, dim: usize, limit: usize) -> Option<AttentionRoom> {
    const MOST_STAGES: usize = 4;
    let width = dim.next_multiple_of(16);
    let fixed = queries.div_ceil(16) * width * 64 + queries.next_multiple_of(8) * (CHUNK + 8) * size_of::<f32>();
    let stage = |keys: usize| keys * (width.min(STAGE_DIMS) + 4) * size_of::<f32>();
    // Each block takes 1 KiB of its own.
    let room = |(keys, limit): (usize, usize)| {
        let stages = (limit.checked_sub(fixed)? / stage(keys)).min(MOST_STAGES);
        (stages > 1).then(|| AttentionRoom { memory: fixed + stages * stage(keys), keys, stages })
    };
    [(64, (limit / 2).saturating_sub(1024)), (64, limit), (32, limit)].into_iter().find_map(room)
}

/// Blocks of attention for the heads of a key/value head.
pub const fn attention_parts(group: usize) -> usize {
    group.div_ceil(QUERIES)
}
