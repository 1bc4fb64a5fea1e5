//! Which tensors a model consists of: slots, their shapes, and the names that checkpoints give them.

use super::spec::ModelSpec;

/// A place for one tensor of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Token embedding `[vocab_size, hidden]`.
    Embedding,
    /// Weight of the norm before the head `[hidden]`.
    FinalNorm,
    /// Head `[vocab_size, hidden]`; absent where it is tied to the embedding.
    Head,
    /// A tensor of block number `.0`.
    Block(usize, BlockSlot),
}

/// A place for one tensor of a block. Matrices are `[outputs, inputs]`, as checkpoints store them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it; shapes stand in `ModelSpec::shape`")]
pub enum BlockSlot {
    AttentionNorm,
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
    MlpNorm,
    Gate,
    Up,
    Down,
    GateBias,
    UpBias,
    DownBias,
}

/// The names that a family of checkpoints gives to the slots.
#[derive(Debug, PartialEq, Eq)]
pub struct TensorNames {
    /// Name of [`Slot::Embedding`].
    pub embedding: &'static str,
    /// Name of [`Slot::FinalNorm`].
    pub final_norm: &'static str,
    /// Name of [`Slot::Head`].
    pub head: &'static str,
    /// What stands before the number of a block.
    pub block: &'static str,
    /// What stands after the number of a block and a dot.
    pub in_block: &'static [(BlockSlot, &'static str)],
}

impl ModelSpec {
    /// Every slot that a checkpoint of this model has to fill.
    pub fn slots(&self) -> Vec<Slot> {
        use BlockSlot as B;
        let mut in_block = vec![B::AttentionNorm, B::Query, B::Key, B::Value, B::Output];
        in_block.extend([B::MlpNorm, B::Gate, B::Up, B::Down]);
        if self.attention.qkv_bias {
            in_block.extend([B::QueryBias, B::KeyBias, B::ValueBias]);
        }
        if self.attention.output_bias {
            in_block.push(B::OutputBias);
        }
        if self.attention.qk_norm {
            in_block.extend([B::QueryNorm, B::KeyNorm]);
        }
        if self.mlp.bias {
            in_block.extend([B::GateBias, B::UpBias, B::DownBias]);
        }
        let mut slots = vec![Slot::Embedding, Slot::FinalNorm];
        if !self.tied {
            slots.push(Slot::Head);
        }
        for block in 0..self.layers {
            slots.extend(in_block.iter().map(|&slot| Slot::Block(block, slot)));
        }
        slots
    }

    /// Shape of the tensor in `slot`.
    pub fn shape(&self, slot: Slot) -> Vec<usize> {
        use BlockSlot as B;
        let hidden = self.hidden;
        let query = self.attention.heads * self.attention.head_dim;
        let key = self.attention.kv_heads * self.attention.head_dim;
        let inner = self.mlp.intermediate;
        match slot {
            Slot::Embedding | Slot::Head => vec![self.vocab_size, hidden],
            Slot::FinalNorm | Slot::Block(_, B::AttentionNorm | B::MlpNorm | B::OutputBias | B::DownBias) => {
                vec![hidden]
            }
            Slot::Block(_, B::Query) => vec![query, hidden],
            Slot::Block(_, B::Key | B::Value) => vec![key, hidden],
            Slot::Block(_, B::Output) => vec![hidden, query],
            Slot::Block(_, B::QueryBias) => vec![query],
            Slot::Block(_, B::KeyBias | B::ValueBias) => vec![key],
            Slot::Block(_, B::QueryNorm | B::KeyNorm) => vec![self.attention.head_dim],
            Slot::Block(_, B::Gate | B::Up) => vec![inner, hidden],
            Slot::Block(_, B::Down) => vec![hidden, inner],
            Slot::Block(_, B::GateBias | B::UpBias) => vec![inner],
        }
    }

    /// Name of the tensor in `slot`.
    pub fn tensor_name(&self, slot: Slot) -> String {
        match slot {
            Slot::Embedding => self.names.embedding.into(),
            Slot::FinalNorm => self.names.final_norm.into(),
            Slot::Head => self.names.head.into(),
            Slot::Block(block, slot) => {
                let name = self.names.in_block.iter().find(|(of, _)| *of == slot).map_or("?", |(_, name)| name);
                format!("{}{block}.{name}", self.names.block)
            }
        }
    }
}
