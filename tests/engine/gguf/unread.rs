//! Tensors that no part of a model is in: those of other parts are passed over, all others are refused by name.

use bass_tui::model::spec::ModelSpec;
use bass_tui::model::{ModelFiles, Outline, TensorType};

use super::written;

/// The file of a case with one more tensor.
fn with(case: &str, architecture: &str, name: &str) -> Result<ModelSpec, String> {
    let mut file = written(case, architecture, TensorType::F32);
    file.tensor(name, &[2], &[1.0, 2.0], TensorType::F32);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.gguf");
    file.write(&path);
    Outline::read(&ModelFiles::Gguf(path)).map(|outline| outline.spec).map_err(|error| error.to_string())
}

#[test]
fn parts_that_a_text_does_without_are_passed_over() {
    for (case, architecture, name) in [
        ("qwen2", "qwen2", "v.blk.0.attn_q.weight"),
        ("gemma4", "gemma4", "a.conv1d.0.weight"),
        ("ministral3", "mistral3", "mm.linear_1.weight"),
        ("qwen3", "qwen3", "cls.output.weight"),
        ("llama", "llama", "rope_freqs.weight"),
        ("llama", "llama", "blk.0.attn_rot_embd.weight"),
        ("qwen3-5", "qwen35", "blk.0.nextn.eh_proj.weight"),
        ("qwen3-5", "qwen35", "mtp.fc.weight"),
        // The block that drafts.
        ("qwen3-5", "qwen35", "blk.DRAFT.attn_q.weight"),
        // A block with the keys of another.
        ("gemma4-e", "gemma4", "blk.LAST.attn_v.weight"),
        ("gemma4-e", "gemma4", "blk.LAST.attn_k_norm.weight"),
    ] {
        let blocks = with(case, architecture, "v.none").expect("readable").blocks;
        let name = name.replace("DRAFT", &blocks.len().to_string());
        let name = name.replace("LAST", &(blocks.len() - 1).to_string());
        if name == "rope_freqs.weight" {
            // It has the size of another model: it is read, and not passed over.
            assert!(with(case, architecture, &name).expect_err("a size").contains("`rope_freqs.weight`"));
        } else {
            assert_eq!(
                with(case, architecture, &name).unwrap_or_else(|error| panic!("{error}")).blocks,
                blocks,
                "{name}"
            );
        }
    }
}

#[test]
fn tensors_that_may_change_results_are_refused_by_name() {
    for (case, architecture, name) in [
        ("qwen2", "qwen2", "blk.0.attn_sub_norm.weight"),
        ("qwen3", "qwen3", "blk.1.attn_q.bias"),
        ("mixtral", "llama", "blk.0.exp_probs_b.bias"),
        ("llama", "llama", "token_embd_norm.weight"),
        ("llama", "llama", "blk.99.attn_q.weight"),
        ("qwen3-5", "qwen35", "blk.99.attn_q.weight"),
        ("gemma4-e", "gemma4", "blk.0.attn_other.weight"),
        ("llama", "llama", "blk.x.attn_q.weight"),
    ] {
        let message = with(case, architecture, name).expect_err(name);
        let found = format!("tensor `{name}`: found F32 of shape [2], expected no such tensor: of this architecture");
        assert!(message.contains(&found), "{message}");
    }
}
