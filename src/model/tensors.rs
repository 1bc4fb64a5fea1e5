//! Which tensors a model consists of: slots, their shapes, and where checkpoints keep them.

use super::spec::{Block, DeltaNet, HeadKind, Heads, Mlp, ModelSpec, NormKind, ReadStates, Wiring};

/// A place for one tensor of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Token embedding `[vocab_size, width]`.
    Embedding,
    /// A row for every position `[offset + context, hidden]`.
    Positions,
    /// From the embedding's width to `hidden`.
    ProjectIn,
    /// Back.
    ProjectOut,
    /// Weight of the norm before the head `[hidden]`.
    FinalNorm,
    /// Its bias.
    FinalNormBias,
    /// Head `[vocab_size, width]`; absent where it is tied to the embedding.
    Head,
    /// Its bias `[vocab_size]`.
    HeadBias,
    /// A tensor of block number `.0`.
    Block(usize, BlockSlot),
    /// A tensor of expert number `.1` of block number `.0`.
    Expert(usize, usize, BlockSlot),
    /// Table of the inputs of blocks `[vocab_size, blocks * width]`.
    LayerTable,
    /// From `hidden` to the inputs of blocks `[blocks * width, hidden]`.
    LayerProjection,
    /// Weight of the norm of a block's projected input `[width]`.
    LayerProjectionNorm,
    /// From the states that a draft head reads `[hidden, count * width]`, or from a token and one state.
    States,
    /// Weight of the norm of states `[hidden]`.
    StatesNorm,
    /// Weight of the norm of tokens in a draft head `[hidden]`, where it is not that of its attention.
    TokenNorm,
}

/// A place for one tensor of a block. Matrices are `[outputs, inputs]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it; shapes stand in `ModelSpec::shape`")]
pub enum BlockSlot {
    AttentionNorm,
    AttentionNormBias,
    Query,
    Key,
    Value,
    Output,
    QueryBias,
    KeyBias,
    ValueBias,
    OutputBias,
    QueryNorm,
    KeyNorm,
    /// Of attention's output, where that is normalised.
    AttentionOutputNorm,
    MlpNorm,
    MlpNormBias,
    Router,
    Gate,
    Up,
    Down,
    GateBias,
    UpBias,
    DownBias,
    /// Of the MLP's output, where that is normalised.
    MlpOutputNorm,
    /// Of attention's result.
    AttentionGate,
    DeltaQuery,
    DeltaKey,
    DeltaValue,
    DeltaGate,
    /// How much of a correction is written, before the sigmoid.
    DeltaBeta,
    /// How much the state decays, before its bias and the softplus.
    DeltaStep,
    DeltaStepBias,
    DeltaDecay,
    /// Of the convolution.
    DeltaFilter,
    DeltaNorm,
    DeltaOutput,
    /// Weighs the shared expert.
    SharedScale,
    SharedGate,
    SharedUp,
    SharedDown,
    QueryNormBias,
    KeyNormBias,
    /// Factor of what comes out.
    OutputScale,
    /// To and from the width of the block's own input, and the norm of what that adds.
    InputGate,
    InputProjection,
    InputNorm,
    /// Of experts beside the MLP: weight of the norm of what the router reads, factors of the experts, norms
    /// of the MLP's output, the experts' input and their output.
    RouterScale,
    ExpertScale,
    BesideMlpNorm,
    ExpertsNorm,
    ExpertsOutputNorm,
    RouterBias,
    /// One score for each query head.
    Sinks,
}

/// Where a family of checkpoints keeps the tensors. All names but the head's have a prefix in front of them;
/// the head has what stands before `.model.` in it.
#[derive(Debug, PartialEq, Eq)]
pub struct TensorNames {
    /// The prefixes that occur; a checkpoint has the first with which it has an embedding.
    pub prefixes: &'static [&'static str],
    /// Name of [`Slot::Embedding`].
    pub embedding: &'static str,
    /// Name of [`Slot::Positions`].
    pub positions: &'static str,
    /// Names of [`Slot::ProjectIn`] and [`Slot::ProjectOut`].
    pub projections: [&'static str; 2],
    /// Name of [`Slot::FinalNorm`], without `.weight`.
    pub final_norm: &'static str,
    /// Name of [`Slot::Head`], without `.weight`.
    pub head: &'static str,
    /// Text before the number of a block.
    pub block: &'static str,
    /// Text after the number of a block and a dot.
    pub in_block: &'static [(BlockSlot, &'static str)],
    /// Tensors that hold several slots, by name and by the slots in question; others hold one.
    pub fused: &'static [(BlockSlot, Fused)],
    /// Text before the number of an expert, after that of the block; `None` where all experts of a block are
    /// one tensor, one below the other.
    pub expert: Option<&'static str>,
    /// Text after the number of an expert and a dot, or of a block.
    pub in_expert: &'static [(BlockSlot, &'static str)],
    /// Matrices of blocks are stored as `[inputs, outputs]`.
    pub transposed: bool,
    /// Names in other checkpoints of the family: those in which all experts of a block are one tensor.
    pub stacked: Option<&'static TensorNames>,
    /// Names of [`Slot::States`], [`Slot::StatesNorm`] and [`Slot::TokenNorm`].
    pub states: [&'static str; 3],
    /// Names of the layer for the next tokens, in models that may bring one along.
    pub next: Option<&'static TensorNames>,
    /// Names of [`Slot::LayerTable`], [`Slot::LayerProjection`] and [`Slot::LayerProjectionNorm`].
    pub layer_inputs: [&'static str; 3],
    /// Tensors that hold several slots of every expert, where all experts of a block are one tensor.
    pub fused_expert: &'static [(BlockSlot, Fused)],
    /// Matrices of experts in one tensor are stored as `[inputs, outputs]`.
    pub experts_transposed: bool,
}

/// Which rows of a tensor with several slots are one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fused {
    /// Slots one below the other; this is the one with this number, of so many.
    Stacked(usize, usize),
    /// Query, key and value one below the other; this is the one with this number.
    Qkv(usize),
    /// Slots whose outputs take turns; this is the one with this number, of so many.
    Interleaved(usize, usize),
    /// Groups of heads, each with parts of query, key and value in an order of its own.
    QkvGroups {
        /// Number of groups; `None` for one per head.
        groups: Option<usize>,
        /// Place of this slot in a group.
        place: usize,
    },
    /// Every head of a query, then its gate; this is the one with this number.
    HeadHalves(usize),
    /// Query, key and value of a delta net one below the other; this is the one with this number.
    Delta(usize),
    /// Query, key, value and gate of each key head after the other's; this is the one with this number.
    DeltaGroups(usize),
    /// Beta and step of the value heads of each key head after the other's; this is the one with this number.
    DeltaPairs(usize),
}

/// Where a slot is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of the tensor.
    pub name: String,
    /// Shape of the whole tensor, as stored.
    pub shape: Vec<usize>,
    /// It is stored as `[inputs, outputs]`.
    pub transposed: bool,
    /// Its outputs that are the slot: `count` ranges of `len`, `step` apart, from `start` on.
    pub outputs: StridedRanges,
}

/// Ranges of equal length at equal distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedRanges {
    /// Start of the first.
    pub start: usize,
    /// Length of each.
    pub len: usize,
    /// From the start of one to the next.
    pub step: usize,
    /// How many.
    pub count: usize,
}

impl StridedRanges {
    fn one(start: usize, len: usize) -> Self {
        Self { start, len, step: len, count: 1 }
    }
}

/// The slots of a gated delta net.
const DELTA: &[BlockSlot] = &[
    BlockSlot::DeltaQuery,
    BlockSlot::DeltaKey,
    BlockSlot::DeltaValue,
    BlockSlot::DeltaGate,
    BlockSlot::DeltaBeta,
    BlockSlot::DeltaStep,
    BlockSlot::DeltaStepBias,
    BlockSlot::DeltaDecay,
    BlockSlot::DeltaFilter,
    BlockSlot::DeltaNorm,
    BlockSlot::DeltaOutput,
];

/// The ranges of a slot of a delta net in a tensor with several, and the outputs of the whole tensor.
fn part_of_delta(fused: Fused, net: &DeltaNet) -> (StridedRanges, usize) {
    let (keys, values) = (net.keys(), net.values());
    // Parts of the tensor, or of each key head.
    let of_head = |size: usize| size / net.key_heads;
    let (parts, number, count) = match fused {
        Fused::DeltaGroups(number) => {
            (vec![of_head(keys), of_head(keys), of_head(values), of_head(values)], number, net.key_heads)
        }
        Fused::DeltaPairs(number) => (vec![of_head(net.value_heads); 2], number, net.key_heads),
        Fused::Delta(number) => (vec![keys, keys, values], number, 1),
        _ => (vec![0], 0, 1),
    };
    let step: usize = parts.iter().sum();
    (StridedRanges { start: parts[..number].iter().sum(), len: parts[number], step, count }, step * count)
}

impl Slot {
    /// The slot of the same place in another block or expert; the block's number, if it has one.
    pub fn in_block(self) -> Option<(usize, BlockSlot)> {
        match self {
            Self::Block(block, slot) | Self::Expert(block, _, slot) => Some((block, slot)),
            _ => None,
        }
    }

    /// A matrix that rows are multiplied with and that may be stored in fewer bits. A router's choice depends
    /// on small differences, so it keeps all bits.
    pub fn is_product(self) -> bool {
        use BlockSlot as B;
        match self {
            Self::Embedding
            | Self::Head
            | Self::ProjectIn
            | Self::ProjectOut
            | Self::LayerTable
            | Self::LayerProjection
            | Self::States => true,
            Self::Block(_, slot) | Self::Expert(_, _, slot) => {
                let attention = matches!(slot, B::Query | B::Key | B::Value | B::Output | B::AttentionGate);
                let delta = matches!(slot, B::DeltaQuery | B::DeltaKey | B::DeltaValue | B::DeltaGate | B::DeltaOutput);
                let shared = matches!(slot, B::SharedGate | B::SharedUp | B::SharedDown);
                let mlp = matches!(slot, B::Gate | B::Up | B::Down | B::InputGate | B::InputProjection);
                attention || delta || shared || mlp
            }
            Self::Positions
            | Self::FinalNorm
            | Self::FinalNormBias
            | Self::HeadBias
            | Self::LayerProjectionNorm
            | Self::StatesNorm
            | Self::TokenNorm => false,
        }
    }
}

impl ModelSpec {
    /// Every slot that a checkpoint of this model has to fill.
    pub fn slots(&self) -> Vec<Slot> {
        // A draft head has the main model's embedding.
        let mut slots =
            if self.states.is_some() { vec![Slot::States, Slot::StatesNorm] } else { vec![Slot::Embedding] };
        let mut add = |there: bool, more: &[Slot]| {
            if there {
                slots.extend(more);
            }
        };
        add(self.is_next(), &[Slot::TokenNorm]);
        add(self.embedding.positions.is_some(), &[Slot::Positions]);
        add(self.embedding.width != self.hidden, &[Slot::ProjectIn, Slot::ProjectOut]);
        add(self.final_norm, &[Slot::FinalNorm]);
        add(self.final_norm && self.norm.kind == NormKind::Layer, &[Slot::FinalNormBias]);
        add(!self.head.tied, &[Slot::Head]);
        add(self.head.bias, &[Slot::HeadBias]);
        add(self.layer_inputs.is_some(), &[Slot::LayerTable, Slot::LayerProjection, Slot::LayerProjectionNorm]);
        for (number, block) in self.blocks.iter().enumerate() {
            let (in_block, in_expert) = self.block_slots(block);
            slots.extend(in_block.iter().map(|&slot| Slot::Block(number, slot)));
            let experts = self.expert_mlp(number).experts.map_or(0, |experts| experts.count);
            for expert in 0..experts {
                slots.extend(in_expert.iter().map(|&slot| Slot::Expert(number, expert, slot)));
            }
        }
        slots
    }

    /// The slots of a block, and those of each of its experts.
    fn block_slots(&self, block: &Block) -> (Vec<BlockSlot>, Vec<BlockSlot>) {
        use BlockSlot as B;
        let layer_norm = self.norm.kind == NormKind::Layer;
        let two_norms = block.wiring != Wiring::Parallel;
        let sandwich = block.wiring == Wiring::Sandwich;
        let mut slots = vec![B::AttentionNorm];
        let attention = block.delta.is_none();
        let own_keys = attention && block.attention.keys_of.is_none();
        slots.extend(if attention { &[B::Query, B::Output][..] } else { DELTA });
        let mut add = |there: bool, more: &[B]| {
            if there {
                slots.extend(more);
            }
        };
        add(own_keys, &[B::Key, B::Value]);
        add(layer_norm, &[B::AttentionNormBias]);
        add(two_norms, &[B::MlpNorm]);
        add(two_norms && layer_norm, &[B::MlpNormBias]);
        add(sandwich, &[B::AttentionOutputNorm, B::MlpOutputNorm]);
        add(attention && block.attention.qkv_bias, &[B::QueryBias]);
        add(own_keys && block.attention.qkv_bias, &[B::KeyBias, B::ValueBias]);
        add(attention && block.attention.output_bias, &[B::OutputBias]);
        add(attention && block.attention.qk_norm, &[B::QueryNorm]);
        add(own_keys && block.attention.qk_norm, &[B::KeyNorm]);
        add(attention && block.attention.qk_norm && layer_norm, &[B::QueryNormBias]);
        add(own_keys && block.attention.qk_norm && layer_norm, &[B::KeyNormBias]);
        add(attention && block.attention.gated, &[B::AttentionGate]);
        add(block.attention.sinks, &[B::Sinks]);
        add(block.mlp.experts.is_some_and(|experts| experts.router_bias), &[B::RouterBias]);
        let shared = block.mlp.experts.is_some_and(|experts| experts.shared.is_some());
        add(shared, &[B::SharedScale, B::SharedGate, B::SharedUp, B::SharedDown]);
        add(block.output_scale, &[B::OutputScale]);
        add(self.layer_inputs.is_some(), &[B::InputGate, B::InputProjection, B::InputNorm]);
        let mlp = mlp_slots(block.mlp);
        if block.mlp.experts.is_some() {
            slots.push(B::Router);
            return (slots, mlp);
        }
        slots.extend(mlp);
        let Some(experts) = block.beside else { return (slots, Vec::new()) };
        slots.extend([B::Router, B::RouterScale, B::ExpertScale]);
        slots.extend([B::BesideMlpNorm, B::ExpertsNorm, B::ExpertsOutputNorm]);
        (slots, mlp_slots(experts))
    }

    /// A draft head that came with its model.
    fn is_next(&self) -> bool {
        matches!(self.states, Some(ReadStates { kind: HeadKind::Next, .. }))
    }

    /// A draft head of the kind of EAGLE-3.
    fn is_chain(&self) -> bool {
        matches!(self.states, Some(ReadStates { kind: HeadKind::Chain { .. }, .. }))
    }

    /// Rows of the head.
    fn head_rows(&self) -> usize {
        match self.states {
            Some(ReadStates { kind: HeadKind::Chain { tokens, .. }, .. }) => tokens,
            _ => self.vocab_size,
        }
    }

    /// The experts of a block, or else its MLP.
    fn expert_mlp(&self, block: usize) -> Mlp {
        let block = &self.blocks[block];
        block.beside.unwrap_or(block.mlp)
    }

    /// Shape of the tensor in `slot`.
    pub fn shape(&self, slot: Slot) -> Vec<usize> {
        use BlockSlot as B;
        let hidden = self.hidden;
        let Some((block, in_block)) = slot.in_block() else {
            let inputs = self.layer_inputs.map_or(0, |inputs| inputs.width);
            return match slot {
                Slot::LayerTable => {
                    vec![self.layer_inputs.map_or(0, |inputs| inputs.vocab_size), self.blocks.len() * inputs]
                }
                Slot::LayerProjection => vec![self.blocks.len() * inputs, hidden],
                Slot::LayerProjectionNorm => vec![inputs],
                Slot::Positions => vec![self.context + self.embedding.positions.unwrap_or(0), hidden],
                Slot::ProjectIn => vec![hidden, self.embedding.width],
                Slot::ProjectOut => vec![self.embedding.width, hidden],
                Slot::HeadBias => vec![self.vocab_size],
                Slot::FinalNorm | Slot::FinalNormBias | Slot::StatesNorm | Slot::TokenNorm => vec![hidden],
                Slot::States if self.is_next() => vec![hidden, 2 * hidden],
                Slot::States => vec![hidden, self.states.as_ref().map_or(0, |states| states.count() * states.width)],
                Slot::Head => vec![self.head_rows(), self.embedding.width],
                _ => vec![self.vocab_size, self.embedding.width],
            };
        };
        let attention_inputs = if self.is_chain() { 2 * hidden } else { hidden };
        let Heads { query, kv, dim } = self.heads_of(block);
        let (query, key) = (query * dim, kv * dim);
        let experts = self.expert_mlp(block);
        let mlp = if matches!(slot, Slot::Expert(..)) { experts } else { self.blocks[block].mlp };
        let inner = mlp.intermediate;
        let shared = mlp.experts.and_then(|experts| experts.shared).unwrap_or(0);
        let delta = |size: fn(&DeltaNet) -> usize| self.blocks[block].delta.as_ref().map_or(0, size);
        let count = experts.experts.map_or(0, |experts| experts.count);
        let inputs = self.layer_inputs.map_or(0, |inputs| inputs.width);
        match in_block {
            B::AttentionNorm
            | B::AttentionNormBias
            | B::AttentionOutputNorm
            | B::MlpNorm
            | B::MlpNormBias
            | B::MlpOutputNorm
            | B::OutputBias
            | B::DownBias
            | B::InputNorm
            | B::RouterScale
            | B::BesideMlpNorm
            | B::ExpertsNorm
            | B::ExpertsOutputNorm => vec![hidden],
            B::Query | B::AttentionGate => vec![query, attention_inputs],
            B::Key | B::Value => vec![key, attention_inputs],
            B::Output => vec![hidden, query],
            B::QueryBias => vec![query],
            B::KeyBias | B::ValueBias => vec![key],
            B::QueryNorm | B::KeyNorm | B::QueryNormBias | B::KeyNormBias => vec![dim],
            B::Router => vec![count, hidden],
            B::ExpertScale | B::RouterBias => vec![count],
            B::Sinks => vec![self.heads_of(block).query],
            B::OutputScale => vec![1],
            B::InputGate => vec![inputs, hidden],
            B::InputProjection => vec![hidden, inputs],
            B::Gate | B::Up => vec![inner, hidden],
            B::Down => vec![hidden, inner],
            B::GateBias | B::UpBias => vec![inner],
            B::DeltaQuery | B::DeltaKey => vec![delta(DeltaNet::keys), hidden],
            B::DeltaValue | B::DeltaGate => vec![delta(DeltaNet::values), hidden],
            B::DeltaBeta | B::DeltaStep => vec![delta(|net| net.value_heads), hidden],
            B::DeltaStepBias | B::DeltaDecay => vec![delta(|net| net.value_heads)],
            B::DeltaFilter => vec![delta(DeltaNet::channels), delta(|net| net.width)],
            B::DeltaNorm => vec![delta(|net| net.value_dim)],
            B::DeltaOutput => vec![hidden, delta(DeltaNet::values)],
            B::SharedScale => vec![1, hidden],
            B::SharedGate | B::SharedUp => vec![shared, hidden],
            B::SharedDown => vec![hidden, shared],
        }
    }

    /// Where the tensor in `slot` is kept, in a checkpoint with this prefix.
    pub fn source(&self, slot: Slot, prefix: &str) -> Source {
        let names = self.names;
        let slot = match slot {
            Slot::Block(block, BlockSlot::Value) if self.blocks[block].attention.value_is_key => {
                Slot::Block(block, BlockSlot::Key)
            }
            slot => slot,
        };
        let mut shape = self.shape(slot);
        let whole = StridedRanges::one(0, shape[0]);
        let named = |name: String| Source { name, shape: shape.clone(), transposed: false, outputs: whole };
        let find = |table: &[(BlockSlot, &'static str)], slot| {
            table.iter().find(|(of, _)| *of == slot).map_or("?", |(_, name)| *name)
        };
        // In models for text and images the head may stand beside the text model.
        let outer = prefix.strip_suffix(".model.").map_or(String::new(), |outer| format!("{outer}."));
        let name = match slot {
            Slot::Embedding => return named(format!("{prefix}{}", names.embedding)),
            Slot::Positions => return named(format!("{prefix}{}", names.positions)),
            Slot::ProjectIn => return named(format!("{prefix}{}", names.projections[0])),
            Slot::ProjectOut => return named(format!("{prefix}{}", names.projections[1])),
            Slot::FinalNorm => return named(format!("{prefix}{}.weight", names.final_norm)),
            Slot::FinalNormBias => return named(format!("{prefix}{}.bias", names.final_norm)),
            Slot::Head => return named(format!("{outer}{}.weight", names.head)),
            Slot::HeadBias => return named(format!("{outer}{}.bias", names.head)),
            Slot::States => return named(format!("{prefix}{}", names.states[0])),
            Slot::StatesNorm => return named(format!("{prefix}{}", names.states[1])),
            Slot::TokenNorm => return named(format!("{prefix}{}", names.states[2])),
            Slot::LayerTable => return named(format!("{prefix}{}", names.layer_inputs[0])),
            Slot::LayerProjection => return named(format!("{prefix}{}", names.layer_inputs[1])),
            Slot::LayerProjectionNorm => return named(format!("{prefix}{}", names.layer_inputs[2])),
            Slot::Block(block, slot) => format!("{prefix}{}{block}.{}", names.block, find(names.in_block, slot)),
            Slot::Expert(block, expert, slot) => {
                let name = find(names.in_expert, slot);
                let Some(before) = names.expert else {
                    let mut outputs = whole;
                    if let Some((_, fused)) = names.fused_expert.iter().find(|(of, _)| *of == slot) {
                        (outputs, shape[0]) = self.part_of_fused(*fused, (block, shape[0]));
                    }
                    outputs.start += expert * shape[0];
                    shape.insert(0, self.expert_mlp(block).experts.map_or(0, |experts| experts.count));
                    let transposed = names.experts_transposed && shape.len() == 3;
                    if transposed {
                        shape.swap(1, 2);
                    }
                    let name = format!("{prefix}{}{block}.{name}", names.block);
                    return Source { name, shape, transposed, outputs };
                };
                format!("{prefix}{}{block}.{before}{expert}.{name}", names.block)
            }
        };
        let mut outputs = whole;
        if let Some((block, slot)) = slot.in_block()
            && let Some((_, fused)) = names.fused.iter().find(|(of, _)| *of == slot)
        {
            (outputs, shape[0]) = self.part_of_fused(*fused, (block, shape[0]));
        }
        let transposed = names.transposed && shape.len() == 2;
        if transposed {
            shape.reverse();
        }
        Source { name, shape, transposed, outputs }
    }

    /// The ranges of a slot of `own` outputs, and the outputs of the whole tensor.
    fn part_of_fused(&self, fused: Fused, (block, own): (usize, usize)) -> (StridedRanges, usize) {
        let delta = self.blocks[block].delta;
        let heads = self.heads_of(block);
        let (query, key) = (heads.query * heads.dim, heads.kv * heads.dim);
        match fused {
            Fused::Stacked(number, of) => (StridedRanges::one(number * own, own), of * own),
            Fused::Interleaved(number, of) => (StridedRanges { start: number, len: 1, step: of, count: own }, of * own),
            Fused::Qkv(number) => (StridedRanges::one([0, query, query + key][number], own), query + 2 * key),
            Fused::QkvGroups { groups, place } => {
                let groups = groups.unwrap_or(heads.query);
                let len = own / groups;
                (StridedRanges { start: place * len, len, step: 3 * len, count: groups }, 3 * own)
            }
            Fused::HeadHalves(number) => {
                let Heads { query: count, dim: len, .. } = self.heads;
                (StridedRanges { start: number * len, len, step: 2 * len, count }, 2 * own)
            }
            Fused::Delta(_) | Fused::DeltaGroups(_) | Fused::DeltaPairs(_) => {
                delta.map_or((StridedRanges::one(0, own), own), |net| part_of_delta(fused, &net))
            }
        }
    }
}

/// A gate and up of an MLP as one tensor, the gate first.
pub const GATE_ABOVE_UP: &[(BlockSlot, Fused)] =
    &[(BlockSlot::Gate, Fused::Stacked(0, 2)), (BlockSlot::Up, Fused::Stacked(1, 2))];

/// Slots of an MLP.
fn mlp_slots(mlp: Mlp) -> Vec<BlockSlot> {
    use BlockSlot as B;
    let mut slots = vec![B::Up, B::Down];
    if mlp.gated {
        slots.insert(0, B::Gate);
    }
    if mlp.bias {
        let biases = slots.iter().map(|slot| match slot {
            B::Gate => B::GateBias,
            B::Up => B::UpBias,
            _ => B::DownBias,
        });
        slots.extend(biases.collect::<Vec<_>>());
    }
    slots
}
