//! Qwen3.5 (text), dense and with experts: gated delta nets in place of attention in most blocks, a gate on
//! attention, norms with 1 + weight, a quarter of each head rotated.

use super::{Architecture, Positions, Switch, Value, llama, qwen3};
use crate::model::ModelError;
use crate::model::fields::Fields;
use crate::model::spec::{DeltaNet, Experts, ModelSpec, NormKind};
use crate::model::tensors::{BlockSlot as B, Fused, GATE_ABOVE_UP, TensorNames};

/// `Qwen3_5ForCausalLM`.
pub const QWEN3_5: Architecture = Architecture {
    name: "Qwen3_5ForCausalLM",
    model_type: "qwen3_5_text",
    norm: NormKind::RmsPlusOne,
    positions: Positions::Rotary { share: 0.25, interleaved: false },
    qkv_bias: Switch::Never,
    output_bias: Switch::Never,
    window: Switch::Never,
    default_window: None,
    only: &[
        ("attention_bias", Value::Flag(false)),
        ("attn_output_gate", Value::Flag(true)),
        ("hidden_act", Value::Text("silu")),
    ],
    adjust: delta_nets,
    names: &NAMES,
    delta_nets: true,
    ..qwen3::QWEN3
};

/// `Qwen3_5MoeForCausalLM`.
pub const QWEN3_5_MOE: Architecture = Architecture {
    name: "Qwen3_5MoeForCausalLM",
    model_type: "qwen3_5_moe_text",
    fields: &super::FieldNames { intermediate: "moe_intermediate_size", ..super::FIELDS },
    adjust: with_experts,
    names: &WITH_EXPERTS,
    ..QWEN3_5
};

/// Models for text and images: what their configuration of the text leaves out.
pub const USUAL: &[(&str, usize)] = &[
    ("num_attention_heads", 16),
    ("head_dim", 256),
    ("vocab_size", 248_320),
    ("max_position_embeddings", 32_768),
    ("rope_theta", 10_000_000),
];

/// Puts gated delta nets into the blocks that `layer_types` names, or into all but every fourth.
pub fn delta_nets(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let size = |field, usual| Ok::<_, ModelError>(fields.size(field)?.unwrap_or(usual));
    let net = DeltaNet {
        key_heads: size("linear_num_key_heads", 16)?,
        value_heads: size("linear_num_value_heads", 32)?,
        key_dim: size("linear_key_head_dim", 128)?,
        value_dim: size("linear_value_head_dim", 128)?,
        width: size("linear_conv_kernel_dim", 4)?,
        logarithms: true,
        tiled: false,
    };
    let layers = spec.blocks.len();
    let linear = match fields.texts("layer_types")? {
        None => None,
        Some(types) => {
            let known = ["full_attention", "linear_attention"];
            if types.len() != layers || types.iter().any(|kind| !known.contains(kind)) {
                let expected = format!("{layers} times \"full_attention\" or \"linear_attention\"");
                return Err(fields.error("layer_types", &expected));
            }
            Some(types.into_iter().map(|kind| kind == "linear_attention").collect())
        }
    };
    let names = ["linear_num_value_heads", "linear_num_key_heads", "linear_conv_kernel_dim"];
    place((net, linear), fields, spec, names)
}

/// Puts this net into these blocks, or into all but every fourth, and gates on attention; the names are those
/// of its fields.
pub fn place(
    (net, linear): (DeltaNet, Option<Vec<bool>>),
    fields: Fields<'_>,
    spec: &mut ModelSpec,
    [values, keys, width]: [&str; 3],
) -> Result<(), ModelError> {
    if !net.value_heads.is_multiple_of(net.key_heads) {
        return Err(fields.error(values, &format!("a multiple of `{keys}`, {}", net.key_heads)));
    }
    if !(2..=64).contains(&net.width) {
        return Err(fields.error(width, "a whole number from 2 to 64"));
    }
    let interval = fields.size("full_attention_interval")?.unwrap_or(4);
    let usual = || (1..=spec.blocks.len()).map(|number| !number.is_multiple_of(interval)).collect();
    let linear = linear.unwrap_or_else(usual);
    for (block, linear) in spec.blocks.iter_mut().zip(linear) {
        block.attention.gated = true;
        block.delta = linear.then_some(net);
    }
    Ok(())
}

fn with_experts(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    delta_nets(fields, spec)?;
    let experts = experts(fields, EXPERTS)?;
    spec.blocks.iter_mut().for_each(|block| block.mlp.experts = Some(experts));
    Ok(())
}

/// Fields of experts: their number, those that a row takes, the width of the shared one.
pub const EXPERTS: [&str; 3] = ["num_experts", "num_experts_per_tok", "shared_expert_intermediate_size"];

/// Experts with a shared one, by fields of these names; a field that is missing is an error.
pub fn experts(fields: Fields<'_>, [count, used, shared]: [&str; 3]) -> Result<Experts, ModelError> {
    Ok(Experts {
        count: fields.required_size(count)?,
        used: fields.required_size(used)?,
        normalised: true,
        shared: Some(fields.required_size(shared)?),
        router_bias: false,
    })
}

/// Names in all models without experts.
pub const NAMES: TensorNames = TensorNames { next: Some(&NEXT), ..BLOCKS };

/// Names of the layer for the next tokens.
const NEXT: TensorNames = TensorNames { prefixes: &["mtp."], states: NEXT_STATES, ..BLOCKS };
/// Names of its matrix and norms.
pub const NEXT_STATES: [&str; 3] = ["fc.weight", "pre_fc_norm_hidden.weight", "pre_fc_norm_embedding.weight"];

/// Names in all blocks.
const BLOCKS: TensorNames = TensorNames {
    in_block: &[
        (B::AttentionNorm, "input_layernorm.weight"),
        (B::Query, "self_attn.q_proj.weight"),
        (B::AttentionGate, "self_attn.q_proj.weight"),
        (B::Key, "self_attn.k_proj.weight"),
        (B::Value, "self_attn.v_proj.weight"),
        (B::Output, "self_attn.o_proj.weight"),
        (B::QueryNorm, "self_attn.q_norm.weight"),
        (B::KeyNorm, "self_attn.k_norm.weight"),
        (B::DeltaQuery, "linear_attn.in_proj_qkv.weight"),
        (B::DeltaKey, "linear_attn.in_proj_qkv.weight"),
        (B::DeltaValue, "linear_attn.in_proj_qkv.weight"),
        (B::DeltaGate, "linear_attn.in_proj_z.weight"),
        (B::DeltaBeta, "linear_attn.in_proj_b.weight"),
        (B::DeltaStep, "linear_attn.in_proj_a.weight"),
        (B::DeltaStepBias, "linear_attn.dt_bias"),
        (B::DeltaDecay, "linear_attn.A_log"),
        (B::DeltaFilter, "linear_attn.conv1d.weight"),
        (B::DeltaNorm, "linear_attn.norm.weight"),
        (B::DeltaOutput, "linear_attn.out_proj.weight"),
        (B::MlpNorm, "post_attention_layernorm.weight"),
        (B::Gate, "mlp.gate_proj.weight"),
        (B::Up, "mlp.up_proj.weight"),
        (B::Down, "mlp.down_proj.weight"),
        (B::Router, "mlp.gate.weight"),
        (B::SharedScale, "mlp.shared_expert_gate.weight"),
        (B::SharedGate, "mlp.shared_expert.gate_proj.weight"),
        (B::SharedUp, "mlp.shared_expert.up_proj.weight"),
        (B::SharedDown, "mlp.shared_expert.down_proj.weight"),
    ],
    fused: &[
        (B::Query, Fused::HeadHalves(0)),
        (B::AttentionGate, Fused::HeadHalves(1)),
        (B::DeltaQuery, Fused::Delta(0)),
        (B::DeltaKey, Fused::Delta(1)),
        (B::DeltaValue, Fused::Delta(2)),
    ],
    // The second one is that of models for text and images.
    prefixes: &["model.", "model.language_model.", ""],
    ..llama::NAMES
};

const WITH_EXPERTS: TensorNames = TensorNames { stacked: Some(&STACKED), next: Some(&NEXT_WITH_EXPERTS), ..BLOCKS };
const NEXT_WITH_EXPERTS: TensorNames = TensorNames { stacked: Some(&NEXT_STACKED), ..NEXT };

/// All experts of a block in two tensors.
const STACKED: TensorNames = TensorNames {
    fused_expert: GATE_ABOVE_UP,
    expert: None,
    in_expert: IN_EXPERT_STACKED,
    next: Some(&NEXT_WITH_EXPERTS),
    ..BLOCKS
};
const NEXT_STACKED: TensorNames =
    TensorNames { fused_expert: GATE_ABOVE_UP, expert: None, in_expert: IN_EXPERT_STACKED, ..NEXT };

const IN_EXPERT_STACKED: &[(B, &str)] =
    &[(B::Gate, "mlp.experts.gate_up_proj"), (B::Up, "mlp.experts.gate_up_proj"), (B::Down, "mlp.experts.down_proj")];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::model::config;
    use crate::model::{ModelError, ModelSpec};

    fn text(name: &str, extra: &str) -> String {
        format!(
            r#"{{"architectures":["{name}"],"hidden_size":64,"num_hidden_layers":8,"vocab_size":100,
            "max_position_embeddings":128,"num_attention_heads":4,"head_dim":32,"intermediate_size":96,
            "moe_intermediate_size":24,"num_experts":4,"num_experts_per_tok":2,"shared_expert_intermediate_size":40,
            "hidden_act":"silu","linear_num_key_heads":2,"linear_num_value_heads":6{extra}}}"#
        )
    }

    fn read(text: &str) -> Result<ModelSpec, ModelError> {
        config::read(Path::new("dir/config.json"), text.as_bytes())
    }

    fn nets(spec: &ModelSpec) -> Vec<bool> {
        spec.blocks.iter().map(|block| block.delta.is_some()).collect()
    }

    #[test]
    fn blocks_are_as_their_list_says_or_every_fourth_has_attention() {
        let usual = read(&text("Qwen3_5ForCausalLM", "")).unwrap();
        assert_eq!(nets(&usual), [true, true, true, false, true, true, true, false]);
        assert!(usual.blocks.iter().all(|block| block.attention.gated && block.mlp.experts.is_none()));
        assert_eq!(usual.blocks[0].attention.rotary.as_ref().unwrap().dims, 8);
        assert_eq!((0..8).filter(|&block| usual.makes_keys(block)).collect::<Vec<_>>(), [3, 7]);
        let other = read(&text("Qwen3NextForCausalLM", r#","full_attention_interval":2"#)).unwrap();
        assert_eq!(nets(&other), [true, false].repeat(4));
        assert_eq!(other.blocks[0].mlp.experts.unwrap().shared, Some(40));
        let full = r#","layer_types":["full_attention","linear_attention","linear_attention","full_attention",
            "linear_attention","linear_attention","full_attention","full_attention"]"#;
        let listed = read(&text("Qwen3_5MoeForCausalLM", full)).unwrap();
        assert_eq!(nets(&listed), [false, true, true, false, true, true, false, false]);
        assert_eq!(listed.blocks[0].mlp.intermediate, 24);
    }

    #[test]
    fn a_text_model_inside_of_another_is_read() {
        let inner = text("", "").replace(r#""architectures":[""],"#, "");
        for name in ["Qwen3_5ForConditionalGeneration", "Qwen3_5ForCausalLM"] {
            let whole = format!(r#"{{"architectures":["{name}"],"tie_word_embeddings":true,"text_config":{inner}}}"#);
            let spec = read(&whole).unwrap();
            assert_eq!((spec.architecture, spec.head.tied, nets(&spec)[0]), ("Qwen3_5ForCausalLM", true, true));
        }
        let whole = format!(r#"{{"architectures":["Qwen3_5MoeForConditionalGeneration"],"text_config":{inner}}}"#);
        assert!(read(&whole).unwrap().blocks[0].mlp.experts.is_some());
    }

    #[test]
    fn what_cannot_be_computed_is_named() {
        for (extra, field) in [
            (r#","layer_types":["linear_attention"]"#, "layer_types"),
            (r#","layer_types":["a","a","a","a","a","a","a","a"]"#, "layer_types"),
            (r#","linear_num_key_heads":4"#, "linear_num_value_heads"),
            (r#","linear_conv_kernel_dim":1"#, "linear_conv_kernel_dim"),
            (r#","attn_output_gate":false"#, "attn_output_gate"),
            (r#","attention_bias":true"#, "attention_bias"),
            (r#","hidden_act":"gelu""#, "hidden_act"),
        ] {
            // A field that is there twice counts with its last value.
            let message = read(&text("Qwen3_5ForCausalLM", extra)).expect_err(field).to_string();
            assert!(message.contains(&format!("`{field}`")), "{message}");
        }
    }
}
