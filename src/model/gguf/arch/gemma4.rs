//! Gemma 4.

use super::gemma::{GEMMA_NAMES, GEMMA2, ends};
use super::windows::windows;
use super::{EACH_INNER, EACH_KV, WITHOUT_VALUES};
use crate::model::ModelError;
use crate::model::arch::{Architecture, Switch, gemma4};
use crate::model::fields::Fields;
use crate::model::spec::{Experts, Heads, LayerInputs, ModelSpec, NormKind};
use crate::model::tensors::{BlockSlot as B, GATE_ABOVE_UP, TensorNames};

/// Other than before, the converter leaves norms as they are, and the file says which blocks have windows.
pub const GEMMA4: Architecture =
    Architecture { name: gemma4::GEMMA4.name, norm: NormKind::Rms, qk_norm: Switch::Always, adjust: fourth, ..GEMMA2 };

fn fourth(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    ends(fields, spec)?;
    windows(fields, spec, 0)?;
    let count = spec.blocks.len();
    let list = |name: &'static str| match fields.sizes(name)? {
        Some(list) if list.len() != count => Err(fields.error(name, &format!("{count} numbers"))),
        list => Ok(list),
    };
    let (kv, inner) = (list(EACH_KV)?, list(EACH_INNER)?);
    let dim = fields.required_size("attention.key_length")?;
    let (rotated, narrow) = ("rope.dimension_count_swa", spec.heads.dim);
    if fields.size(rotated)?.is_some_and(|rotated| rotated != narrow) {
        return Err(fields.error(rotated, &format!("{narrow}, the width of a head of these blocks")));
    }
    let same = fields.ids(WITHOUT_VALUES)?.unwrap_or_default();
    for (number, block) in spec.blocks.iter_mut().enumerate() {
        let attention = &mut block.attention;
        let kv = kv.as_ref().map_or(spec.heads.kv, |kv| kv[number]);
        if !spec.heads.query.is_multiple_of(kv) {
            let expected = format!("divisors of `attention.head_count`, {}", spec.heads.query);
            return Err(fields.error(EACH_KV, &expected));
        }
        let dim = if attention.window.is_some() { spec.heads.dim } else { dim };
        attention.heads = Some(Heads { kv, dim, ..spec.heads }).filter(|heads| *heads != spec.heads);
        attention.value_is_key = same.contains(&(number as u32));
        block.mlp.intermediate = inner.as_ref().map_or(block.mlp.intermediate, |inner| inner[number]);
    }
    // Its frequencies are not stretched.
    for field in ["rope.scale_linear", "rope.scaling.factor"] {
        if fields.not_negative(field)?.is_some_and(|factor| factor > 0.0 && factor.to_bits() != 1f64.to_bits()) {
            return Err(fields.error(field, "nothing or 1"));
        }
    }
    gemma4::shape(spec);
    let bases = ["rope.freq_base", "rope.freq_base_swa"].map(|name| fields.positive(name));
    let [full, own] = bases;
    let (full, own) = (full?, own?);
    let scaled = fields.flag("layer_output_scale.weight")?.unwrap_or(false);
    for block in &mut spec.blocks {
        block.output_scale = scaled;
        let base = if block.attention.window.is_some() { own } else { full };
        if let Some(rotary) = &mut block.attention.rotary {
            rotary.base = base.unwrap_or(rotary.base);
        }
    }
    let shared = fields.whole("attention.shared_kv_layers")?.unwrap_or(0);
    gemma4::share(spec, shared).map_err(|expected| fields.error("attention.shared_kv_layers", &expected))?;
    if let Some(width) = fields.whole("embedding_length_per_layer_input")?.filter(|&width| width > 0) {
        spec.layer_inputs = Some(LayerInputs { width, vocab_size: spec.vocab_size });
    }
    let count = fields.whole("expert_count")?.unwrap_or(0);
    if count > 0 {
        let used = fields.required_size("expert_used_count")?;
        let experts = Experts { count, used, normalised: true, shared: None, router_bias: false };
        gemma4::beside(spec, experts, fields.required_size("expert_feed_forward_length")?);
    }
    if fields.flag("ffn_gate_up_exps.weight")?.unwrap_or(false) {
        spec.names = &GEMMA4_FUSED_NAMES;
    }
    Ok(())
}

/// Of files where gates stand above what they gate.
const GEMMA4_FUSED_NAMES: TensorNames = TensorNames {
    in_expert: &[
        (B::Gate, "ffn_gate_up_exps.weight"),
        (B::Up, "ffn_gate_up_exps.weight"),
        (B::Down, "ffn_down_exps.weight"),
    ],
    fused_expert: GATE_ABOVE_UP,
    ..GEMMA_NAMES
};
