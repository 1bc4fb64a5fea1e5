//! The layer for the next tokens (MTP), as llama.cpp's converter writes it.

use super::delta::{query_and_gate, values};
use super::write::Writer;
use bass_tui::model::{BlockSlot as B, ModelWeights, Slot, TensorType};

/// The layer for the next tokens as the block behind the others; all norms include their 1.
pub fn write(writer: &mut Writer, head: &ModelWeights, number: usize) {
    let block = |slot| Slot::Block(0, slot);
    for (name, slot) in [
        ("nextn.eh_proj", Slot::States),
        ("nextn.hnorm", Slot::StatesNorm),
        ("nextn.enorm", Slot::TokenNorm),
        ("nextn.shared_head_norm", Slot::FinalNorm),
        ("attn_norm", block(B::AttentionNorm)),
        ("attn_k", block(B::Key)),
        ("attn_v", block(B::Value)),
        ("attn_output", block(B::Output)),
        ("attn_q_norm", block(B::QueryNorm)),
        ("attn_k_norm", block(B::KeyNorm)),
        ("post_attention_norm", block(B::MlpNorm)),
        ("ffn_gate", block(B::Gate)),
        ("ffn_up", block(B::Up)),
        ("ffn_down", block(B::Down)),
    ] {
        let (shape, mut values) = (head.spec.shape(slot), values(head, slot));
        if shape.len() == 1 {
            for value in &mut values {
                *value += 1.0;
            }
        }
        writer.tensor(&format!("blk.{number}.{name}.weight"), &shape, &values, TensorType::F32);
    }
    let query = query_and_gate(head, 0);
    let shape = [query.len() / head.spec.hidden, head.spec.hidden];
    writer.tensor(&format!("blk.{number}.attn_q.weight"), &shape, &query, TensorType::F32);
}
