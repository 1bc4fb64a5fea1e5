//! `CodeGen`: attention and MLP side by side on one norm, neighbouring channels rotated against each other.

use super::{Architecture, Positions, Switch, gpt2};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{ModelSpec, Wiring};
use crate::model::tensors::{BlockSlot as B, Fused, TensorNames};

/// `CodeGenForCausalLM`.
pub const CODEGEN: Architecture = Architecture {
    name: "CodeGenForCausalLM",
    model_type: "codegen",
    wiring: Wiring::Parallel,
    positions: Positions::Rotary { share: 1.0, interleaved: true },
    qkv_bias: Switch::Never,
    output_bias: Switch::Never,
    head_bias: Switch::Always,
    tied: false,
    only: &[],
    adjust: rotated,
    names: &NAMES,
    ..gpt2::GPT2
};

/// Groups that query, key and value are stored in; each held the heads of one of the machines that trained
/// it.
const GROUPS: usize = 4;

fn rotated(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    if !spec.heads.query.is_multiple_of(GROUPS) {
        return Err(fields.error("n_head", &format!("a multiple of {GROUPS}")));
    }
    let dims = fields.required_size("rotary_dim")?;
    if dims > spec.heads.dim || !dims.is_multiple_of(2) {
        return Err(
            fields.error("rotary_dim", &format!("an even number up to the width of a head, {}", spec.heads.dim))
        );
    }
    for block in &mut spec.blocks {
        block.attention.rotary.iter_mut().for_each(|rotary| rotary.dims = dims);
    }
    Ok(())
}

const NAMES: TensorNames = TensorNames {
    in_block: &[
        (B::AttentionNorm, "ln_1.weight"),
        (B::AttentionNormBias, "ln_1.bias"),
        (B::Query, "attn.qkv_proj.weight"),
        (B::Key, "attn.qkv_proj.weight"),
        (B::Value, "attn.qkv_proj.weight"),
        (B::Output, "attn.out_proj.weight"),
        (B::Up, "mlp.fc_in.weight"),
        (B::UpBias, "mlp.fc_in.bias"),
        (B::Down, "mlp.fc_out.weight"),
        (B::DownBias, "mlp.fc_out.bias"),
    ],
    fused: &[
        (B::Query, Fused::QkvGroups { groups: Some(GROUPS), place: 0 }),
        (B::Value, Fused::QkvGroups { groups: Some(GROUPS), place: 1 }),
        (B::Key, Fused::QkvGroups { groups: Some(GROUPS), place: 2 }),
    ],
    transposed: false,
    ..gpt2::NAMES
};
