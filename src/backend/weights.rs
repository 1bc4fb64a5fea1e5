//! Which weights a model consists of, whatever device they lie on.

use super::BackendError;
use crate::model::blocks::widen;
use crate::model::spec::{Block, Mlp, NormKind, Wiring};
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
    /// `None` where blocks have no inputs of their own.
    pub layer_inputs: Option<LayerInputsWeights<M, V>>,
    pub blocks: Vec<BlockWeights<M, V>>,
}

/// Those that make the inputs of blocks.
pub struct LayerInputsWeights<M, V> {
    /// `[vocab_size, blocks * width]`.
    pub table: M,
    /// `[blocks * width, hidden]`.
    pub projection: M,
    /// Of each block's projected input, `[width]`.
    pub norm: NormWeights<V>,
}

/// Those with which a block reads its own input.
pub struct InputWeights<M, V> {
    /// `[width, hidden]`.
    pub gate: M,
    /// `[hidden, width]`.
    pub projection: M,
    /// Of what is added.
    pub norm: NormWeights<V>,
}

/// Those of experts beside an MLP.
pub struct BesideWeights<M, V> {
    /// `[experts, hidden]` in f32.
    pub router: M,
    /// Of what the router reads, divided by the root of `hidden`.
    pub router_norm: NormWeights<V>,
    /// Factors of the experts, `[experts]`.
    pub scale: Vec<f32>,
    /// Of the MLP's output.
    pub mlp_norm: NormWeights<V>,
    /// Of the experts' input.
    pub norm: NormWeights<V>,
    /// Of their output.
    pub output_norm: NormWeights<V>,
    pub mlps: Vec<MlpWeights<M, V>>,
}

/// Those of a block.
pub struct BlockWeights<M, V> {
    pub attention_norm: NormWeights<V>,
    /// Of what attention adds.
    pub attention_output_norm: Option<NormWeights<V>>,
    /// Query, key and value one below the other, `[(heads + 2 * kv_heads) * head_dim, hidden]`; only the query where
    /// keys and values are another block's.
    pub qkv: M,
    /// Bias of `qkv`.
    pub qkv_bias: Option<V>,
    /// Norms of query and key heads, `[head_dim]` each; the second is the first again where there are no keys.
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
    pub beside: Option<BesideWeights<M, V>>,
    pub input: Option<InputWeights<M, V>>,
    /// Factor of what comes out.
    pub output_scale: Option<f32>,
    /// Of the router, `[experts]`.
    pub router_bias: Option<V>,
    /// Of each query head.
    pub sinks: Option<Vec<f32>>,
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
            layer_inputs: match spec.layer_inputs {
                None => None,
                Some(_) => Some(LayerInputsWeights {
                    table: end(Slot::LayerTable)?,
                    projection: end(Slot::LayerProjection)?,
                    norm: walk.norm(Slot::LayerProjectionNorm, Slot::LayerProjectionNorm)?,
                }),
            },
            blocks: (0..spec.blocks.len()).map(|block| walk.block(block)).collect::<Result<_, _>>()?,
        })
    }

    /// All matrices, in the order in which they are packed.
    pub fn matrices(&self) -> impl Iterator<Item = &M> {
        let ends = [&self.embedding].into_iter().chain(self.projections.iter().flatten()).chain(&self.head);
        let inputs = self.layer_inputs.iter().flat_map(|inputs| [&inputs.table, &inputs.projection]);
        ends.chain(inputs).chain(self.blocks.iter().flat_map(BlockWeights::matrices))
    }

    /// Weights that every row is multiplied with; of experts those that it takes. `weights` are those of a
    /// matrix.
    pub fn multiplied(&self, spec: &ModelSpec, weights: impl Fn(&M) -> usize + Copy) -> usize {
        let head = self.head.as_ref().unwrap_or(&self.embedding);
        let ends: usize = [head].into_iter().chain(self.projections.iter().flatten()).map(weights).sum();
        let ends = ends + self.layer_inputs.iter().map(|inputs| weights(&inputs.projection)).sum::<usize>();
        let of_block = |(block, spec): (&BlockWeights<M, V>, &Block)| {
            let used = |mlp: Mlp| mlp.experts.map_or(1, |experts| experts.used);
            let of = |mlps: &[MlpWeights<M, V>], used: usize| -> usize {
                mlps.iter().take(used).flat_map(|mlp| [&mlp.up, &mlp.down]).map(weights).sum()
            };
            let mut mlp = of(&block.mlps, used(spec.mlp));
            if let (Some(beside), Some(spec)) = (&block.beside, spec.beside) {
                mlp += weights(&beside.router) + of(&beside.mlps, used(spec));
            }
            if let Some(input) = &block.input {
                mlp += weights(&input.gate) + weights(&input.projection);
            }
            mlp + [&block.qkv, &block.output].into_iter().chain(&block.router).map(weights).sum::<usize>()
        };
        ends + self.blocks.iter().zip(&spec.blocks).map(of_block).sum::<usize>()
    }
}

impl<M, V> BlockWeights<M, V> {
    fn matrices(&self) -> impl Iterator<Item = &M> {
        let mlps = self.mlps.iter().flat_map(|mlp| [&mlp.up, &mlp.down]);
        let beside = self.beside.iter().flat_map(|beside| {
            [&beside.router].into_iter().chain(beside.mlps.iter().flat_map(|mlp| [&mlp.up, &mlp.down]))
        });
        let input = self.input.iter().flat_map(|input| [&input.gate, &input.projection]);
        [&self.qkv, &self.output].into_iter().chain(&self.router).chain(mlps).chain(beside).chain(input)
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
        let own_keys = spec.attention.keys_of.is_none();
        let parts = if own_keys { 3 } else { 1 };
        let qk_norm = if spec.attention.qk_norm {
            let key = if own_keys { (B::KeyNorm, B::KeyNormBias) } else { (B::QueryNorm, B::QueryNormBias) };
            Some((norm(B::QueryNorm, B::QueryNormBias)?, norm(key.0, key.1)?))
        } else {
            None
        };
        let matrix = |slots: &[B], role| self.packer.matrix(&of(slots), role);
        Ok(BlockWeights {
            attention_norm: norm(B::AttentionNorm, B::AttentionNormBias)?,
            attention_output_norm: norm_if(sandwich, B::AttentionOutputNorm, B::AttentionOutputNorm)?,
            qkv: matrix(&[B::Query, B::Key, B::Value][..parts], MatrixRole::Block)?,
            qkv_bias: self
                .vector_if(spec.attention.qkv_bias, &of(&[B::QueryBias, B::KeyBias, B::ValueBias][..parts]))?,
            qk_norm,
            output: matrix(&[B::Output], MatrixRole::Block)?,
            output_bias: self.vector_if(spec.attention.output_bias, &of(&[B::OutputBias]))?,
            mlp_norm: norm_if(spec.wiring != Wiring::Parallel, B::MlpNorm, B::MlpNormBias)?,
            mlp_output_norm: norm_if(sandwich, B::MlpOutputNorm, B::MlpOutputNorm)?,
            router: if spec.mlp.experts.is_some() { Some(matrix(&[B::Router], MatrixRole::Router)?) } else { None },
            mlps: match spec.mlp.experts {
                None => vec![self.mlp(spec.mlp, |slot| Slot::Block(block, slot))?],
                Some(experts) => (0..experts.count)
                    .map(|expert| self.mlp(spec.mlp, |slot| Slot::Expert(block, expert, slot)))
                    .collect::<Result<_, _>>()?,
            },
            beside: spec.beside.map(|mlp| self.beside(block, mlp)).transpose()?,
            input: match self.model.spec.layer_inputs {
                None => None,
                Some(_) => Some(InputWeights {
                    gate: matrix(&[B::InputGate], MatrixRole::Block)?,
                    projection: matrix(&[B::InputProjection], MatrixRole::Block)?,
                    norm: norm(B::InputNorm, B::InputNorm)?,
                }),
            },
            router_bias: self
                .vector_if(spec.mlp.experts.is_some_and(|experts| experts.router_bias), &of(&[B::RouterBias]))?,
            sinks: if spec.attention.sinks { Some(self.values(&of(&[B::Sinks]))?) } else { None },
            output_scale: if spec.output_scale { self.values(&of(&[B::OutputScale]))?.first().copied() } else { None },
        })
    }

    /// Experts beside the MLP of a block.
    fn beside(&self, block: usize, mlp: Mlp) -> Result<BesideWeights<P::Matrix, P::Vector>, BackendError> {
        use BlockSlot as B;
        let of = |slot| Slot::Block(block, slot);
        let norm = |slot| self.norm(of(slot), of(slot));
        let root = (self.model.spec.hidden as f32).sqrt().recip();
        let scale: Vec<f32> = self.values(&[of(B::RouterScale)])?.into_iter().map(|scale| scale * root).collect();
        let count = mlp.experts.map_or(0, |experts| experts.count);
        Ok(BesideWeights {
            router: self.packer.matrix(&[of(B::Router)], MatrixRole::Router)?,
            router_norm: NormWeights { weight: self.packer.vector(scale)?, bias: None },
            scale: self.values(&[of(B::ExpertScale)])?,
            mlp_norm: norm(B::BesideMlpNorm)?,
            norm: norm(B::ExpertsNorm)?,
            output_norm: norm(B::ExpertsOutputNorm)?,
            mlps: (0..count)
                .map(|expert| self.mlp(mlp, |slot| Slot::Expert(block, expert, slot)))
                .collect::<Result<_, _>>()?,
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
