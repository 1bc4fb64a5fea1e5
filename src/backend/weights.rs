//! Which weights a model consists of, whatever device they lie on.

use super::BackendError;
use crate::model::blocks::widen;
use crate::model::spec::{Block, DeltaNet, HeadKind, Mlp, NormKind, Wiring};
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

/// Weights of a draft head.
pub struct DraftHeadWeights<M, V> {
    /// From the main model's states `[hidden, count * width]`.
    pub states: M,
    /// Of states.
    pub states_norm: NormWeights<V>,
    /// Of tokens, where it is not that of the block's attention.
    pub token_norm: Option<NormWeights<V>>,
    pub blocks: Vec<BlockWeights<M, V>>,
    pub final_norm: NormWeights<V>,
    /// `[tokens, hidden]`; `None` where it is the main model's.
    pub head: Option<M>,
}

impl<M, V> DraftHeadWeights<M, V> {
    /// Packs the weights of `model`.
    pub fn pack(model: &ModelWeights, packer: &impl Packer<Matrix = M, Vector = V>) -> Result<Self, BackendError> {
        let walk = Walk { model, packer };
        let weights = Self {
            states: walk.matrix(&[Slot::States], MatrixRole::Block)?,
            states_norm: walk.norm(Slot::StatesNorm, Slot::StatesNorm)?,
            token_norm: match model.spec.states.as_ref().map(|states| states.kind) {
                Some(HeadKind::Next) => Some(walk.norm(Slot::TokenNorm, Slot::TokenNorm)?),
                _ => None,
            },
            blocks: (0..model.spec.blocks.len()).map(|block| walk.block(block)).collect::<Result<_, _>>()?,
            final_norm: walk.norm(Slot::FinalNorm, Slot::FinalNormBias)?,
            head: if model.spec.head.tied { None } else { Some(walk.matrix(&[Slot::Head], MatrixRole::End)?) },
        };
        model.release_all();
        Ok(weights)
    }
}

/// Weights that make the inputs of blocks.
pub struct LayerInputsWeights<M, V> {
    /// `[vocab_size, blocks * width]`.
    pub table: M,
    /// `[blocks * width, hidden]`.
    pub projection: M,
    /// Of each block's projected input, `[width]`.
    pub norm: NormWeights<V>,
}

/// Weights with which a block reads its own input.
pub struct InputWeights<M, V> {
    /// `[width, hidden]`.
    pub gate: M,
    /// `[hidden, width]`.
    pub projection: M,
    /// Of what is added.
    pub norm: NormWeights<V>,
}

/// Weights of experts beside an MLP.
pub struct BesideWeights<M, V> {
    /// `[experts, hidden]` in f32.
    pub router: M,
    /// Of what the router reads, divided by the root of `hidden`.
    pub router_norm: NormWeights<V>,
    /// Factors of the experts, `[experts]`.
    pub scale: V,
    /// Of the MLP's output.
    pub mlp_norm: NormWeights<V>,
    /// Of the experts' input.
    pub norm: NormWeights<V>,
    /// Of their output.
    pub output_norm: NormWeights<V>,
    pub mlps: Vec<MlpWeights<M, V>>,
}

/// Weights of a block.
pub struct BlockWeights<M, V> {
    pub attention_norm: NormWeights<V>,
    /// Of what attention adds.
    pub attention_output_norm: Option<NormWeights<V>>,
    /// Query, key and value one below the other, `[(heads + 2 * kv_heads) * head_dim, hidden]`, only the
    /// query where keys and values are another block's; and the gate `[heads * head_dim, hidden]`, if there
    /// is one.
    pub qkv: M,
    /// Bias of `qkv`.
    pub qkv_bias: Option<V>,
    /// Norms of query and key heads, `[head_dim]` each; the second is the first again where there are no
    /// keys.
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
    /// Of a gated delta net, in place of attention: then `qkv` is its query, key, value and gate, and
    /// `output` its output.
    pub delta: Option<DeltaWeights<M, V>>,
    /// The expert that every row takes, if there is one.
    pub shared: Option<SharedWeights<M, V>>,
    pub beside: Option<BesideWeights<M, V>>,
    pub input: Option<InputWeights<M, V>>,
    /// Factor of what comes out.
    pub output_scale: Option<f32>,
    /// Of the router, `[experts]`.
    pub router_bias: Option<V>,
    /// Of each query head.
    pub sinks: Option<V>,
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

/// Weights of an MLP.
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
        let end = |slot| walk.matrix(&[slot], MatrixRole::End);
        let weights = Self {
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
        };
        // Around a tensor the system reads more of the file than was asked for.
        model.release_all();
        Ok(weights)
    }

    /// From the last row to logits, `[vocab_size, width]`.
    pub fn head(&self) -> &M {
        self.head.as_ref().unwrap_or(&self.embedding)
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
        let ends: usize = [self.head()].into_iter().chain(self.projections.iter().flatten()).map(weights).sum();
        let ends = ends + self.layer_inputs.iter().map(|inputs| weights(&inputs.projection)).sum::<usize>();
        let of_block = |(block, spec): (&BlockWeights<M, V>, &Block)| {
            let used = |mlp: Mlp| mlp.experts.map_or(1, |experts| experts.used);
            let of = |mlps: &[MlpWeights<M, V>], used: usize| -> usize {
                mlps.iter().take(used).flat_map(|mlp| [&mlp.up, &mlp.down]).map(weights).sum()
            };
            let mut mlp = of(&block.mlps, used(spec.mlp));
            mlp += block.shared.iter().flat_map(SharedWeights::matrices).map(weights).sum::<usize>();
            mlp += block.delta.as_ref().map_or(0, |delta| weights(&delta.rates));
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
        let rates = self.delta.iter().map(|delta| &delta.rates);
        let shared = self.shared.iter().flat_map(SharedWeights::matrices);
        let beside = self.beside.iter().flat_map(|beside| {
            [&beside.router].into_iter().chain(beside.mlps.iter().flat_map(|mlp| [&mlp.up, &mlp.down]))
        });
        let input = self.input.iter().flat_map(|input| [&input.gate, &input.projection]);
        let own = [&self.qkv, &self.output].into_iter().chain(&self.router).chain(mlps);
        own.chain(rates).chain(shared).chain(beside).chain(input)
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
    /// A matrix, whose pages of the file are not needed from then on: they would take as much memory as it.
    fn matrix(&self, slots: &[Slot], role: MatrixRole) -> Result<P::Matrix, BackendError> {
        let matrix = self.packer.matrix(slots, role)?;
        for &slot in slots {
            self.model.release(slot);
        }
        Ok(matrix)
    }

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
        let qk_norm = if spec.attention.qk_norm && spec.delta.is_none() {
            let key = if own_keys { (B::KeyNorm, B::KeyNormBias) } else { (B::QueryNorm, B::QueryNormBias) };
            Some((norm(B::QueryNorm, B::QueryNormBias)?, norm(key.0, key.1)?))
        } else {
            None
        };
        let matrix = |slots: &[B], role| self.matrix(&of(slots), role);
        let (qkv, output): (&[B], _) = match (spec.delta, spec.attention.gated) {
            (Some(_), _) => (&[B::DeltaQuery, B::DeltaKey, B::DeltaValue, B::DeltaGate], B::DeltaOutput),
            (None, true) => (&[B::Query, B::Key, B::Value, B::AttentionGate], B::Output),
            (None, false) => (&[B::Query, B::Key, B::Value][..parts], B::Output),
        };
        let attention = spec.delta.is_none();
        Ok(BlockWeights {
            attention_norm: norm(B::AttentionNorm, B::AttentionNormBias)?,
            attention_output_norm: norm_if(sandwich, B::AttentionOutputNorm, B::AttentionOutputNorm)?,
            qkv: matrix(qkv, MatrixRole::Block)?,
            qkv_bias: self.vector_if(
                attention && spec.attention.qkv_bias,
                &of(&[B::QueryBias, B::KeyBias, B::ValueBias][..parts]),
            )?,
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
            sinks: self.vector_if(spec.attention.sinks, &of(&[B::Sinks]))?,
            output_scale: if spec.output_scale { self.values(&of(&[B::OutputScale]))?.first().copied() } else { None },
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
            scale: self.packer.vector(self.values(&[of(B::ExpertScale)])?)?,
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
            up: self.matrix(&of(up), MatrixRole::Block)?,
            up_bias: self.vector_if(spec.bias, &of(up_bias))?,
            down: self.matrix(&of(&[B::Down]), MatrixRole::Block)?,
            down_bias: self.vector_if(spec.bias, &of(&[B::DownBias]))?,
        })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::cell::Cell;
    use std::fmt::Write as _;
    use std::path::{Path, PathBuf};

    use super::*;

    /// Bytes of a file that are in the memory of this process.
    fn resident(file: &Path) -> usize {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("the system's list");
        let name = file.to_str().expect("a name");
        let of_file = maps.lines().skip_while(|line| !line.ends_with(name)).find(|line| line.starts_with("Rss:"));
        let kib = of_file.and_then(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
        kib.expect("a mapped file") << 10
    }

    /// A model of 17 MB.
    fn large(folder: &Path) -> PathBuf {
        let config = r#"{"architectures":["LlamaForCausalLM"],"hidden_size":256,"num_hidden_layers":8,"vocab_size":100,
            "max_position_embeddings":128,"num_attention_heads":4,"intermediate_size":1024,"hidden_act":"silu",
            "tie_word_embeddings":true}"#;
        std::fs::write(folder.join("config.json"), config).expect("written");
        let mut tensors = vec![("model.embed_tokens.weight".to_owned(), [100, 256])];
        tensors.push(("model.norm.weight".to_owned(), [256, 1]));
        for block in 0..8 {
            let norms = ["input_layernorm", "post_attention_layernorm"].map(|name| (name, [256, 1]));
            let attention = ["q", "k", "v", "o"].map(|of| (of, [256, 256]));
            let mlp = [("mlp.gate_proj", [1024, 256]), ("mlp.up_proj", [1024, 256]), ("mlp.down_proj", [256, 1024])];
            for (name, shape) in norms.into_iter().chain(attention).chain(mlp) {
                let name = if name.len() == 1 { format!("self_attn.{name}_proj") } else { name.to_owned() };
                tensors.push((format!("model.layers.{block}.{name}.weight"), shape));
            }
        }
        let (mut header, mut end) = (String::from("{"), 0);
        for (name, [rows, columns]) in tensors {
            let shape = if columns == 1 { format!("[{rows}]") } else { format!("[{rows},{columns}]") };
            let from = end;
            end += rows * columns * 2;
            let comma = if from == 0 { "" } else { "," };
            let _ =
                write!(header, r#"{comma}"{name}":{{"dtype":"BF16","shape":{shape},"data_offsets":[{from},{end}]}}"#);
        }
        header.push('}');
        let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &vec![1; end]].concat();
        let path = folder.join("model.safetensors");
        std::fs::write(&path, file).expect("written");
        path
    }

    /// Reads every byte, and keeps nothing.
    struct Reading<'a> {
        model: &'a ModelWeights,
        file: PathBuf,
        /// Most that was resident when a matrix was asked for, and after it was read.
        before: Cell<usize>,
        after: Cell<usize>,
    }

    impl Packer for Reading<'_> {
        type Matrix = u64;
        type Vector = ();

        fn matrix(&self, slots: &[Slot], _: MatrixRole) -> Result<u64, BackendError> {
            self.before.set(self.before.get().max(resident(&self.file)));
            let mut sum = 0;
            for &slot in slots {
                for (tensor, _) in self.model.outputs(slot)? {
                    sum += tensor.bytes.iter().step_by(64).map(|&byte| u64::from(byte)).sum::<u64>();
                }
            }
            self.after.set(self.after.get().max(resident(&self.file)));
            Ok(sum)
        }

        fn vector(&self, _: Vec<f32>) -> Result<(), BackendError> {
            Ok(())
        }
    }

    #[test]
    fn pages_of_a_file_are_let_go_as_soon_as_their_matrix_is_packed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = large(folder.path());
        let model = ModelWeights::of_folder(folder.path()).expect("a model");
        let packer = Reading { model: &model, file, before: Cell::new(0), after: Cell::new(0) };
        let weights = Weights::pack(&model, &packer).expect("packed");
        assert!(*weights.matrices().next().expect("matrices") > 0);
        let (before, after) = (packer.before.get(), packer.after.get());
        // Gate and up are a megabyte; the system reads more around what is asked for, but not the file.
        let whole = std::fs::metadata(&packer.file).expect("a file").len() as usize;
        assert!(after >= 1 << 20 && after < whole / 2 && before < whole / 2, "{before} and {after} of {whole}");
        assert_eq!(resident(&packer.file), 0);
    }
}
