//! Gated delta nets as llama.cpp's converter writes them: value heads so ordered that neighbours have different keys,
//! rates of decay as such, query and gate in one tensor.

use super::write::Writer;
use bass_tui::model::blocks::widen;
use bass_tui::model::spec::{DeltaNet, ModelSpec};
use bass_tui::model::{BlockSlot as B, Model, ModelWeights, Slot, TensorType};

/// Slots that are written here.
pub fn writes(slot: Slot) -> bool {
    use B::{
        AttentionGate, DeltaBeta, DeltaDecay, DeltaFilter, DeltaGate, DeltaKey, DeltaNorm, DeltaOutput, DeltaQuery,
        DeltaStep, DeltaStepBias, DeltaValue, Query,
    };
    let all = [
        AttentionGate, DeltaBeta, DeltaDecay, DeltaFilter, DeltaGate, DeltaKey, DeltaNorm, DeltaOutput, DeltaQuery,
        DeltaStep, DeltaStepBias, DeltaValue, Query,
    ];
    matches!(slot, Slot::Block(_, slot) if all.contains(&slot))
}

pub fn values(model: &ModelWeights, slot: Slot) -> Vec<f32> {
    let mut values = Vec::new();
    for (tensor, _) in model.outputs(slot).expect("a tensor") {
        let mut part = vec![0.0; tensor.bytes.len() / tensor.dtype.block().1 * tensor.dtype.block().0];
        widen(tensor.dtype, &tensor.bytes, &mut part);
        values.extend(part);
    }
    values
}

/// Parts of value heads, each of so many floats, in the order of the file.
fn tiled(net: &DeltaNet, values: &[f32], each: usize) -> Vec<f32> {
    let of_key = net.value_heads / net.key_heads;
    let head = |head: usize| values[head * each..(head + 1) * each].to_vec();
    (0..of_key).flat_map(|i| (0..net.key_heads).flat_map(move |key| head(key * of_key + i))).collect()
}

/// Every head of the query, then its gate.
pub fn query_and_gate(model: &ModelWeights, block: usize) -> Vec<f32> {
    let of = |slot| values(model, Slot::Block(block, slot));
    let head = model.spec.heads.dim * model.spec.hidden;
    let (query, gate) = (of(B::Query), of(B::AttentionGate));
    query.chunks(head).zip(gate.chunks(head)).flat_map(|(query, gate)| [query, gate].concat()).collect()
}

pub fn write(writer: &mut Writer, model: &Model, architecture: &str, dtype: TensorType) {
    let spec = &model.spec;
    let hidden = spec.hidden;
    for (number, block) in spec.blocks.iter().enumerate() {
        let of = |slot| values(model, Slot::Block(number, slot));
        let mut put = |name: &str, shape: &[usize], values: &[f32]| {
            let whole = shape.len() == 2 && shape.last().is_some_and(|row| dtype.bytes(*row).is_some());
            let exact = ["conv1d", "ssm_ba", "ssm_alpha", "ssm_beta"].iter().any(|part| name.contains(part));
            let dtype = if whole && !exact { dtype } else { TensorType::F32 };
            writer.tensor(&format!("blk.{number}.{name}"), shape, values, dtype);
        };
        let Some(net) = block.delta else {
            put("attn_q.weight", &[2 * spec.heads.query * spec.heads.dim, hidden], &query_and_gate(model, number));
            continue;
        };
        let reorders = architecture != "qwen3next";
        let order = |values: &[f32], each: usize| if reorders { tiled(&net, values, each) } else { values.to_vec() };
        let value = order(&of(B::DeltaValue), net.value_dim * hidden);
        put("attn_qkv.weight", &[net.channels(), hidden], &[of(B::DeltaQuery), of(B::DeltaKey), value].concat());
        put("attn_gate.weight", &[net.values(), hidden], &order(&of(B::DeltaGate), net.value_dim * hidden));
        let (beta, step) = (of(B::DeltaBeta), of(B::DeltaStep));
        if reorders {
            put("ssm_beta.weight", &[net.value_heads, hidden], &order(&beta, hidden));
            put("ssm_alpha.weight", &[net.value_heads, hidden], &order(&step, hidden));
        } else {
            let part = net.value_heads / net.key_heads * hidden;
            let both = beta.chunks(part).zip(step.chunks(part)).flat_map(|(beta, step)| [beta, step].concat());
            put("ssm_ba.weight", &[2 * net.value_heads, hidden], &both.collect::<Vec<_>>());
        }
        put("ssm_dt.bias", &[net.value_heads], &order(&of(B::DeltaStepBias), 1));
        let decay: Vec<f32> = of(B::DeltaDecay).iter().map(|rate| -rate.exp()).collect();
        put("ssm_a", &[net.value_heads], &order(&decay, 1));
        let filter = of(B::DeltaFilter);
        let (keys, of_values) = filter.split_at(2 * net.keys() * net.width);
        let filter = [keys, &order(of_values, net.value_dim * net.width)].concat();
        put("ssm_conv1d.weight", &[net.channels(), net.width], &filter);
        put("ssm_norm.weight", &[net.value_dim], &of(B::DeltaNorm));
        let rows = of(B::DeltaOutput);
        let rows = rows.chunks(net.values()).flat_map(|row| order(row, net.value_dim));
        put("ssm_out.weight", &[hidden, net.values()], &rows.collect::<Vec<_>>());
    }
}

pub fn fields(writer: &mut Writer, spec: &ModelSpec, architecture: &str) {
    let key = |name: &str| format!("{architecture}.{name}");
    let net = spec.blocks.iter().find_map(|block| block.delta).expect("a delta net");
    writer.whole(&key("ssm.conv_kernel"), net.width);
    writer.whole(&key("ssm.state_size"), net.key_dim);
    writer.whole(&key("ssm.group_count"), net.key_heads);
    writer.whole(&key("ssm.time_step_rank"), net.value_heads);
    writer.whole(&key("ssm.inner_size"), net.values());
    let attention = spec.blocks.iter().position(|block| block.delta.is_none());
    writer.whole(&key("full_attention_interval"), attention.map_or(4, |number| number + 1));
    // The file of a model that drafts with a block of its own counts that one, too.
    writer.whole(&key("block_count"), spec.blocks.len() + 1);
    writer.whole(&key("nextn_predict_layers"), 1);
    writer.wholes(&key("rope.dimension_sections"), &[2, 1, 1, 0]);
    if let Some(experts) = spec.blocks[0].mlp.experts {
        writer.whole(&key("expert_feed_forward_length"), spec.blocks[0].mlp.intermediate);
        writer.whole(&key("expert_shared_feed_forward_length"), experts.shared.expect("a shared expert"));
    }
}
