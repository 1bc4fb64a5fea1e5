//! Which weights a model consists of, whatever device they lie on.

use super::BackendError;
use crate::model::blocks::widen;
use crate::model::spec::{Block, DeltaNet, Mlp, NormKind, Wiring};
use crate::model::{BlockSlot, ModelSpec, ModelWeights, Slot};

/// Puts weights where the kernels of a device read them.
pub trait Packer {
    /// A matrix that rows are multiplied with.
    type Matrix;
    /// A vector of floats.
    type Vector;

    /// Matrices with the same inputs, one below the other.
    fn matrix(&self, slots: &[Slot], role: MatrixRole) -> Result<Self::Matrix, BackendError>;

    /// Floats.
    fn vector(&self, values: Vec<f32>) -> Result<Self::Vector, BackendError>;
}

/// Role of a matrix in the network, which decides about its precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixRole {
    /// Embedding and head: four bits are too few where the errors go straight into the logits.
    End,
    /// In a block.
    Block,
    /// A router, which keeps all bits of its weights.
    Router,
}

/// All weights of a model, with matrices and vectors as a device has them.
pub struct Weights<M, V> {
    /// `[vocab_size, width]`.
    pub embedding: M,
    /// A row for every position `[offset + context, hidden]`; `None` where positions are rotated.
    pub positions: Option<V>,
    /// From the embedding's width to `hidden`, and back; `None` where they are the same.
    pub projections: Option<[M; 2]>,
    /// `[vocab_size, width]`; `None` where the embedding is the head.
    pub head: Option<M>,
    /// `[vocab_size]`.
    pub head_bias: Option<V>,
    pub final_norm: Option<NormWeights<V>>,
    pub blocks: Vec<BlockWeights<M, V>>,
}

/// Those of a block.
pub struct BlockWeights<M, V> {
    pub attention_norm: NormWeights<V>,
    /// Of what attention adds.
    pub attention_output_norm: Option<NormWeights<V>>,
    /// Query, key and value one below the other, `[(heads + 2 * kv_heads) * head_dim, hidden]`, and the gate
    /// `[heads * head_dim, hidden]`, if there is one.
    pub qkv: M,
    /// Bias of `qkv`.
    pub qkv_bias: Option<V>,
    /// Norms of query and key heads, `[head_dim]` each.
    pub qk_norm: Option<(NormWeights<V>, NormWeights<V>)>,
    /// `[hidden, heads * head_dim]`.
    pub output: M,
    /// Bias of `output`.
    pub output_bias: Option<V>,
    /// `None` where the MLP reads what attention reads.
    pub mlp_norm: Option<NormWeights<V>>,
    /// Of what the MLP adds.
    pub mlp_output_norm: Option<NormWeights<V>>,
    /// Chooses experts, `[experts, hidden]` in f32; `None` where there is one MLP.
    pub router: Option<M>,
    /// The MLP, or the experts.
    pub mlps: Vec<MlpWeights<M, V>>,
    /// Of a gated delta net, in place of attention: then `qkv` is its query, key, value and gate, and `output`
    /// its output.
    pub delta: Option<DeltaWeights<M, V>>,
    /// The expert that every row takes, if there is one.
    pub shared: Option<SharedWeights<M, V>>,
}

/// Weights of a gated delta net beside its larger matrices.
pub struct DeltaWeights<M, V> {
    /// Beta, then step of each value head, `[2 * value_heads, hidden]` in f32.
    pub rates: M,
    /// Added to the steps, `[value_heads]`.
    pub step_bias: V,
    /// Rates of decay, below zero, `[value_heads]`.
    pub decay: V,
    /// Filters of the convolution, `[width, channels]`.
    pub filter: V,
    /// Norm of the result of a head, `[value_dim]`.
    pub norm: V,
}

/// Weights of a shared expert.
pub struct SharedWeights<M, V> {
    /// Before the sigmoid that it is multiplied with, `[1, hidden]` in f32.
    pub scale: M,
    /// The expert.
    pub mlp: MlpWeights<M, V>,
}

/// Those of an MLP.
pub struct MlpWeights<M, V> {
    /// Gate, if there is one, and up one below the other, `[1 or 2 * intermediate, hidden]`.
    pub up: M,
    /// Bias of `up`.
    pub up_bias: Option<V>,
    /// `[hidden, intermediate]`.
    pub down: M,
    /// Bias of `down`.
    pub down_bias: Option<V>,
}

/// Weight and bias of a norm, `[width]` each; RMS norms have no bias.
pub struct NormWeights<V> {
    /// `[width]`.
    pub weight: V,
    /// `[width]`.
    pub bias: Option<V>,
}

impl<M, V> Weights<M, V> {
    /// Packs the weights of `model`.
    pub fn pack(model: &ModelWeights, packer: &impl Packer<Matrix = M, Vector = V>) -> Result<Self, BackendError> {
        let spec = &model.spec;
        let projected = spec.embedding.width != spec.hidden;
        let walk = Walk { model, packer };
        let end = |slot| packer.matrix(&[slot], MatrixRole::End);
        Ok(Self {
            embedding: end(Slot::Embedding)?,
            positions: walk.vector_if(spec.embedding.positions.is_some(), &[Slot::Positions])?,
            projections: if projected { Some([end(Slot::ProjectIn)?, end(Slot::ProjectOut)?]) } else { None },
            head: if spec.head.tied { None } else { Some(end(Slot::Head)?) },
            head_bias: walk.vector_if(spec.head.bias, &[Slot::HeadBias])?,
            final_norm: if spec.final_norm { Some(walk.norm(Slot::FinalNorm, Slot::FinalNormBias)?) } else { None },
            blocks: (0..spec.blocks.len()).map(|block| walk.block(block)).collect::<Result<_, _>>()?,
        })
    }

    /// All matrices, in the order in which they are packed.
    pub fn matrices(&self) -> impl Iterator<Item = &M> {
        let ends = [&self.embedding].into_iter().chain(self.projections.iter().flatten()).chain(&self.head);
        ends.chain(self.blocks.iter().flat_map(BlockWeights::matrices))
    }

    /// Weights that every row is multiplied with; of experts those that it takes. `weights` are those of a
    /// matrix.
    pub fn multiplied(&self, spec: &ModelSpec, weights: impl Fn(&M) -> usize + Copy) -> usize {
        let head = self.head.as_ref().unwrap_or(&self.embedding);
        let ends: usize = [head].into_iter().chain(self.projections.iter().flatten()).map(weights).sum();
        let of_block = |(block, spec): (&BlockWeights<M, V>, &Block)| {
            let used = spec.mlp.experts.map_or(1, |experts| experts.used);
            let mlp: usize = block.mlps.iter().take(used).flat_map(|mlp| [&mlp.up, &mlp.down]).map(weights).sum();
            let shared = block.shared.iter().flat_map(SharedWeights::matrices).map(weights).sum::<usize>();
            let rates = block.delta.as_ref().map_or(0, |delta| weights(&delta.rates));
            mlp + shared
                + rates
                + [&block.qkv, &block.output].into_iter().chain(&block.router).map(weights).sum::<usize>()
        };
        ends + self.blocks.iter().zip(&spec.blocks).map(of_block).sum::<usize>()
    }
}

impl<M, V> BlockWeights<M, V> {
    fn matrices(&self) -> impl Iterator<Item = &M> {
        let mlps = self.mlps.iter().flat_map(|mlp| [&mlp.up, &mlp.down]);
        let others = self.delta.iter().map(|delta| &delta.rates);
        let shared = self.shared.iter().flat_map(SharedWeights::matrices);
        [&self.qkv, &self.output].into_iter().chain(&self.router).chain(mlps).chain(others).chain(shared)
    }
}

impl<M, V> SharedWeights<M, V> {
    fn matrices(&self) -> impl Iterator<Item = &M> + use<'_, M, V> {
        [&self.scale, &self.mlp.up, &self.mlp.down].into_iter()
    }
}

/// Goes through the slots of a model.
struct Walk<'a, P> {
    model: &'a ModelWeights,
    packer: &'a P,
}

impl<P: Packer> Walk<'_, P> {
    /// Vectors, or the rows of matrices, one after the other.
    fn values(&self, slots: &[Slot]) -> Result<Vec<f32>, BackendError> {
        let mut values = Vec::new();
        for &slot in slots {
            for (tensor, _) in self.model.outputs(slot)? {
                let from = values.len();
                let (of_block, bytes) = tensor.dtype.block();
                values.resize(from + tensor.bytes.len() / bytes * of_block, 0.0);
                widen(tensor.dtype, &tensor.bytes, &mut values[from..]);
            }
        }
        Ok(values)
    }

    fn vector_if(&self, there: bool, slots: &[Slot]) -> Result<Option<P::Vector>, BackendError> {
        if there { self.values(slots).and_then(|values| self.packer.vector(values)).map(Some) } else { Ok(None) }
    }

    fn norm(&self, weight: Slot, bias: Slot) -> Result<NormWeights<P::Vector>, BackendError> {
        let kind = self.model.spec.norm.kind;
        let mut weight = self.values(&[weight])?;
        if kind == NormKind::RmsPlusOne {
            for weight in &mut weight {
                *weight += 1.0;
            }
        }
        let weight = self.packer.vector(weight)?;
        Ok(NormWeights { weight, bias: self.vector_if(kind == NormKind::Layer, &[bias])? })
    }

    fn block(&self, block: usize) -> Result<BlockWeights<P::Matrix, P::Vector>, BackendError> {
        use BlockSlot as B;
        let spec = &self.model.spec.blocks[block];
        let of = |slots: &[B]| slots.iter().map(|&slot| Slot::Block(block, slot)).collect::<Vec<_>>();
        let norm = |weight, bias| self.norm(Slot::Block(block, weight), Slot::Block(block, bias));
        let norm_if =
            |there: bool, weight, bias| if there { norm(weight, bias).map(Some) } else { Ok::<_, BackendError>(None) };
        let sandwich = spec.wiring == Wiring::Sandwich;
        let qk_norm = if spec.attention.qk_norm && spec.delta.is_none() {
            Some((norm(B::QueryNorm, B::QueryNorm)?, norm(B::KeyNorm, B::KeyNorm)?))
        } else {
            None
        };
        let matrix = |slots: &[B], role| self.packer.matrix(&of(slots), role);
        let (qkv, output): (&[B], _) = match (spec.delta, spec.attention.is_gated()) {
            (Some(_), _) => (&[B::DeltaQuery, B::DeltaKey, B::DeltaValue, B::DeltaGate], B::DeltaOutput),
            (None, true) => (&[B::Query, B::Key, B::Value, B::AttentionGate], B::Output),
            (None, false) => (&[B::Query, B::Key, B::Value], B::Output),
        };
        let attention = spec.delta.is_none();
        Ok(BlockWeights {
            attention_norm: norm(B::AttentionNorm, B::AttentionNormBias)?,
            attention_output_norm: norm_if(sandwich, B::AttentionOutputNorm, B::AttentionOutputNorm)?,
            qkv: matrix(qkv, MatrixRole::Block)?,
            qkv_bias: self
                .vector_if(attention && spec.attention.qkv_bias, &of(&[B::QueryBias, B::KeyBias, B::ValueBias]))?,
            qk_norm,
            output: matrix(&[output], MatrixRole::Block)?,
            output_bias: self.vector_if(attention && spec.attention.output_bias, &of(&[B::OutputBias]))?,
            mlp_norm: norm_if(spec.wiring != Wiring::Parallel, B::MlpNorm, B::MlpNormBias)?,
            mlp_output_norm: norm_if(sandwich, B::MlpOutputNorm, B::MlpOutputNorm)?,
            router: if spec.mlp.experts.is_some() { Some(matrix(&[B::Router], MatrixRole::Router)?) } else { None },
            mlps: match spec.mlp.experts {
                None => vec![self.mlp(spec.mlp, |slot| Slot::Block(block, slot))?],
                Some(experts) => (0..experts.count)
                    .map(|expert| self.mlp(spec.mlp, |slot| Slot::Expert(block, expert, slot)))
                    .collect::<Result<_, _>>()?,
            },
            delta: spec.delta.map(|net| self.delta(block, &net)).transpose()?,
            shared: if spec.mlp.experts.is_some_and(|experts| experts.shared.is_some()) {
                Some(self.shared(block)?)
            } else {
                None
            },
        })
    }

    fn delta(&self, block: usize, net: &DeltaNet) -> Result<DeltaWeights<P::Matrix, P::Vector>, BackendError> {
        use BlockSlot as B;
        let of = |slot| Slot::Block(block, slot);
        let values = |slot| self.values(&[of(slot)]);
        let mut decay = values(B::DeltaDecay)?;
        if net.logarithms {
            for rate in &mut decay {
                *rate = -(f64::from(*rate).exp() as f32);
            }
        }
        let (stored, channels) = (values(B::DeltaFilter)?, net.channels());
        let filter = (0..stored.len()).map(|i| stored[i % channels * net.width + i / channels]).collect();
        Ok(DeltaWeights {
            rates: self.packer.matrix(&[of(B::DeltaBeta), of(B::DeltaStep)], MatrixRole::Router)?,
            step_bias: self.packer.vector(values(B::DeltaStepBias)?)?,
            decay: self.packer.vector(decay)?,
            filter: self.packer.vector(filter)?,
            norm: self.packer.vector(values(B::DeltaNorm)?)?,
        })
    }

    fn shared(&self, block: usize) -> Result<SharedWeights<P::Matrix, P::Vector>, BackendError> {
        use BlockSlot as B;
        let of = |slots: &[B]| slots.iter().map(|&slot| Slot::Block(block, slot)).collect::<Vec<_>>();
        let up = self.packer.matrix(&of(&[B::SharedGate, B::SharedUp]), MatrixRole::Block)?;
        let down = self.packer.matrix(&of(&[B::SharedDown]), MatrixRole::Block)?;
        Ok(SharedWeights {
            scale: self.packer.matrix(&of(&[B::SharedScale]), MatrixRole::Router)?,
            mlp: MlpWeights { up, up_bias: None, down, down_bias: None },
        })
    }

    fn mlp(
        &self,
        spec: Mlp,
        slot: impl Fn(BlockSlot) -> Slot,
    ) -> Result<MlpWeights<P::Matrix, P::Vector>, BackendError> {
        use BlockSlot as B;
        let of = |slots: &[B]| slots.iter().map(|&of| slot(of)).collect::<Vec<_>>();
        let (up, up_bias): (&[B], &[B]) =
            if spec.gated { (&[B::Gate, B::Up], &[B::GateBias, B::UpBias]) } else { (&[B::Up], &[B::UpBias]) };
        Ok(MlpWeights {
            up: self.packer.matrix(&of(up), MatrixRole::Block)?,
            up_bias: self.vector_if(spec.bias, &of(up_bias))?,
            down: self.packer.matrix(&of(&[B::Down]), MatrixRole::Block)?,
            down_bias: self.vector_if(spec.bias, &of(&[B::DownBias]))?,
        })
    }
}
