//! Writes golden models as GGUF files, as llama.cpp's converter does.

use std::path::Path;

use super::delta;
use bass_tui::model::blocks::widen;
use bass_tui::model::spec::{ModelSpec, NormKind};
use bass_tui::model::{BlockSlot, Model, Slot, TensorType};
use half::{bf16, f16};
use serde_json::Value;

/// A file while it is put together.
#[derive(Clone, Default)]
pub struct Writer {
    fields: Vec<Vec<u8>>,
    tensors: Vec<(String, Vec<usize>, TensorType, Vec<u8>)>,
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

impl Writer {
    fn field(&mut self, name: &str, kind: u32, value: &[u8]) {
        self.fields.push([&text(name)[..], &kind.to_le_bytes(), value].concat());
    }

    /// A field is there.
    pub fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.starts_with(&text(name)))
    }

    pub fn text(&mut self, name: &str, value: &str) {
        self.field(name, 8, &text(value));
    }

    pub fn whole(&mut self, name: &str, value: usize) {
        self.field(name, 4, &(value as u32).to_le_bytes());
    }

    pub fn float(&mut self, name: &str, value: f32) {
        self.field(name, 6, &value.to_le_bytes());
    }

    pub fn flag(&mut self, name: &str, value: bool) {
        self.field(name, 7, &[value.into()]);
    }

    pub fn wholes(&mut self, name: &str, values: &[usize]) {
        self.list(name, 4, &values.iter().map(|&value| (value as u32).to_le_bytes().to_vec()).collect::<Vec<_>>());
    }

    pub fn flags(&mut self, name: &str, values: &[bool]) {
        self.list(name, 7, &values.iter().map(|&value| vec![value.into()]).collect::<Vec<_>>());
    }

    fn list(&mut self, name: &str, kind: u32, items: &[Vec<u8>]) {
        let head = [&kind.to_le_bytes()[..], &(items.len() as u64).to_le_bytes()].concat();
        self.field(name, 9, &[&head[..], &items.concat()].concat());
    }

    pub fn tensor(&mut self, name: &str, shape: &[usize], values: &[f32], dtype: TensorType) {
        self.tensors.push((name.into(), shape.into(), dtype, encode(values, dtype)));
    }

    /// The file, with these of the tensors.
    pub fn bytes(&self, tensors: std::ops::Range<usize>) -> Vec<u8> {
        let tensors = &self.tensors[tensors];
        let counts = [tensors.len() as u64, self.fields.len() as u64].map(u64::to_le_bytes).concat();
        let mut file = [b"GGUF", &3u32.to_le_bytes()[..], &counts, &self.fields.concat()].concat();
        let mut offset = 0u64;
        for (name, shape, dtype, bytes) in tensors {
            file.extend(text(name));
            file.extend((shape.len() as u32).to_le_bytes());
            shape.iter().rev().for_each(|&size| file.extend((size as u64).to_le_bytes()));
            file.extend(dtype.number().to_le_bytes());
            file.extend(offset.to_le_bytes());
            offset += bytes.len().next_multiple_of(32) as u64;
        }
        for (.., bytes) in tensors {
            file.resize(file.len().next_multiple_of(32), 0);
            file.extend(bytes);
        }
        file
    }

    /// Replaces the values of matrices of products, of which rows of so many come in, in a file of floats.
    pub fn map(&mut self, of: impl Fn(&[f32], usize) -> Vec<f32>) {
        for (name, shape, dtype, bytes) in &mut self.tensors {
            if shape.len() > 1 && !name.contains("ffn_gate_inp") {
                let mut values = vec![0.0; bytes.len() / 4];
                widen(*dtype, bytes, &mut values);
                *bytes = encode(&of(&values, shape[shape.len() - 1]), TensorType::F32);
            }
        }
    }

    pub fn tensors(&self) -> usize {
        self.tensors.len()
    }

    pub fn write(&self, path: &Path) {
        std::fs::write(path, self.bytes(0..self.tensors.len())).expect("a writable folder");
    }
}

/// The values as stored, in blocks where the type has them.
fn encode(values: &[f32], dtype: TensorType) -> Vec<u8> {
    let block = |values: &[f32]| -> Vec<u8> {
        let extreme = values.iter().copied().fold(0.0f32, |a, b| if b.abs() > a.abs() { b } else { a });
        let scale = f16::from_f32(if dtype == TensorType::Q8_0 { extreme.abs() / 127.0 } else { extreme / -8.0 });
        let code = |value: f32| if scale.to_f32() == 0.0 { 0.0 } else { (value / scale.to_f32()).round() };
        let codes: Vec<u8> = match dtype {
            TensorType::Q8_0 => values.iter().map(|&value| code(value).clamp(-127.0, 127.0) as i8 as u8).collect(),
            _ => (0..16)
                .map(|i| [values[i], values[i + 16]].map(|value| (code(value) + 8.0).clamp(0.0, 15.0) as u8))
                .map(|[low, high]| low | high << 4)
                .collect(),
        };
        [&scale.to_le_bytes()[..], &codes].concat()
    };
    let nearest = |table: &[i8; 16], value: f32| {
        let distance = |place: &usize| (f32::from(table[*place]) - value).abs();
        (0..16).min_by(|a, b| distance(a).total_cmp(&distance(b))).expect("places") as u8
    };
    // Places in the table of the type, with a scale that the greatest number of the table has.
    let places = |values: &[f32]| -> Vec<u8> {
        let table = dtype.format().and_then(|format| format.bits.table()).expect("a table");
        let most = values.iter().fold(0.0f32, |most, value| most.max(value.abs()));
        let (scale, stored) = if dtype == TensorType::Mxfp4 {
            let exponent = if most == 0.0 { 0.0 } else { (most / 12.0).log2().ceil() + 128.0 };
            ((exponent - 128.0).exp2(), vec![exponent as u8])
        } else {
            let scale = f16::from_f32(most / 113.0);
            (scale.to_f32(), scale.to_le_bytes().to_vec())
        };
        let place = |value: f32| nearest(table, if scale == 0.0 { 0.0 } else { value / scale });
        let codes = (0..16).map(|i| place(values[i]) | place(values[i + 16]) << 4);
        stored.into_iter().chain(codes).collect()
    };
    match dtype {
        TensorType::Iq4Nl | TensorType::Mxfp4 => values.chunks(32).flat_map(places).collect(),
        TensorType::F32 => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        TensorType::F16 => values.iter().flat_map(|&value| f16::from_f32(value).to_le_bytes()).collect(),
        TensorType::Bf16 => values.iter().flat_map(|&value| bf16::from_f32(value).to_le_bytes()).collect(),
        TensorType::Q8_0 | TensorType::Q4_0 => values.chunks(32).flat_map(block).collect(),
        other => panic!("{other} is not written here"),
    }
}

/// The values that are stored for these.
pub fn rounded(values: &[f32], dtype: TensorType) -> Vec<f32> {
    let mut to = vec![0.0; values.len()];
    widen(dtype, &encode(values, dtype), &mut to);
    to
}

fn name(slot: Slot) -> String {
    use BlockSlot as B;
    let in_block = |slot| match slot {
        B::AttentionNorm => "attn_norm.weight",
        B::AttentionNormBias => "attn_norm.bias",
        B::Query => "attn_q.weight",
        B::Key => "attn_k.weight",
        B::Value => "attn_v.weight",
        B::Output => "attn_output.weight",
        B::QueryBias => "attn_q.bias",
        B::KeyBias => "attn_k.bias",
        B::ValueBias => "attn_v.bias",
        B::OutputBias => "attn_output.bias",
        B::QueryNorm => "attn_q_norm.weight",
        B::KeyNorm => "attn_k_norm.weight",
        B::MlpNorm => "ffn_norm.weight",
        B::MlpNormBias => "ffn_norm.bias",
        B::Router => "ffn_gate_inp.weight",
        B::Gate => "ffn_gate.weight",
        B::Up => "ffn_up.weight",
        B::Down => "ffn_down.weight",
        B::GateBias => "ffn_gate.bias",
        B::UpBias => "ffn_up.bias",
        B::DownBias => "ffn_down.bias",
        B::AttentionOutputNorm => "post_attention_norm.weight",
        B::MlpOutputNorm => "post_ffw_norm.weight",
        B::OutputScale => "layer_output_scale.weight",
        B::InputGate => "inp_gate.weight",
        B::InputProjection => "proj.weight",
        B::InputNorm => "post_norm.weight",
        B::RouterScale => "ffn_gate_inp.scale",
        B::ExpertScale => "ffn_down_exps.scale",
        B::BesideMlpNorm => "post_ffw_norm_1.weight",
        B::ExpertsNorm => "pre_ffw_norm_2.weight",
        B::ExpertsOutputNorm => "post_ffw_norm_2.weight",
        B::RouterBias => "ffn_gate_inp.bias",
        B::Sinks => "attn_sinks.weight",
        B::SharedScale => "ffn_gate_inp_shexp.weight",
        B::SharedGate => "ffn_gate_shexp.weight",
        B::SharedUp => "ffn_up_shexp.weight",
        B::SharedDown => "ffn_down_shexp.weight",
        other => panic!("{other:?} is written by `delta`"),
    };
    match slot {
        Slot::Embedding => "token_embd.weight".into(),
        Slot::FinalNorm => "output_norm.weight".into(),
        Slot::FinalNormBias => "output_norm.bias".into(),
        Slot::Head => "output.weight".into(),
        Slot::HeadBias => "output.bias".into(),
        Slot::LayerTable => "per_layer_token_embd.weight".into(),
        Slot::LayerProjection => "per_layer_model_proj.weight".into(),
        Slot::LayerProjectionNorm => "per_layer_proj_norm.weight".into(),
        Slot::Block(block, slot) => format!("blk.{block}.{}", in_block(slot)),
        Slot::Expert(block, _, slot) => format!("blk.{block}.{}", in_block(slot).replace('.', "_exps.")),
        other => panic!("{other:?} is not written here"),
    }
}

/// The model as `architecture`; matrices in `dtype` where their rows are whole blocks, all else in f32.
pub fn converted(model: &Model, folder: &Path, architecture: &str, dtype: TensorType) -> Writer {
    let mut writer = Writer::default();
    let spec = &model.spec;
    fields(&mut writer, spec, architecture);
    vocabulary(&mut writer, model, folder);
    // Experts of a block are one tensor.
    let mut stacked: Vec<f32> = Vec::new();
    let gated = gated(spec);
    if gated {
        delta::write(&mut writer, model, architecture, dtype);
    }
    for slot in spec.slots() {
        let is_key = |block: usize, slot| slot == BlockSlot::Value && spec.blocks[block].attention.value_is_key;
        if gated && delta::writes(slot) || matches!(slot, Slot::Block(block, slot) if is_key(block, slot)) {
            continue;
        }
        let mut values = Vec::new();
        for (tensor, _) in model.outputs(slot).expect("a tensor") {
            let mut part = vec![0.0; tensor.bytes.len() / tensor.dtype.block().1 * tensor.dtype.block().0];
            widen(tensor.dtype, &tensor.bytes, &mut part);
            values.extend(part);
        }
        let mut name = name(slot);
        if gated || architecture == "gpt-oss" {
            // This norm has the place of one that others have after attention.
            name = name.replace("ffn_norm", "post_attention_norm");
        }
        if spec.norm.kind == NormKind::RmsPlusOne && name.ends_with("norm.weight") {
            for value in &mut values {
                *value += 1.0;
            }
        }
        let mut shape = spec.shape(slot);
        if let Slot::Block(_, BlockSlot::Query | BlockSlot::Key | BlockSlot::QueryBias | BlockSlot::KeyBias) = slot
            && ["llama", "granite", "granitehybrid", "mistral3", "smollm3"].contains(&architecture)
        {
            values = neighbours(&values, spec.heads.dim, shape.get(1).copied().unwrap_or(1));
        }
        if let Slot::Expert(block, expert, part) = slot {
            // The slots of an expert follow one another, those of all experts are one tensor each.
            if expert > 0 {
                continue;
            }
            stacked.clear();
            let mlp = spec.blocks[block].beside.unwrap_or(spec.blocks[block].mlp);
            let count = mlp.experts.expect("experts").count;
            for expert in 0..count {
                for (tensor, _) in model.outputs(Slot::Expert(block, expert, part)).expect("a tensor") {
                    let mut values = vec![0.0; tensor.bytes.len() / tensor.dtype.block().1 * tensor.dtype.block().0];
                    widen(tensor.dtype, &tensor.bytes, &mut values);
                    stacked.extend(values);
                }
            }
            shape.insert(0, count);
            values.clone_from(&stacked);
        }
        let whole = shape.last().is_some_and(|row| dtype.bytes(*row).is_some());
        let dtype = if slot.is_product() && whole { dtype } else { TensorType::F32 };
        if matches!(slot, Slot::Block(_, BlockSlot::SharedScale)) {
            shape.remove(0);
        }
        writer.tensor(&name, &shape, &values, dtype);
    }
    writer
}

/// Fields of Gemma 4, and the divisors of its frequencies.
pub fn gemma4(writer: &mut Writer, spec: &ModelSpec) {
    let key = |name: &str| format!("gemma4.{name}");
    let all = 0..spec.blocks.len();
    let heads: Vec<_> = all.clone().map(|block| spec.heads_of(block)).collect();
    let full = spec.blocks.iter().position(|block| block.attention.window.is_none()).expect("a block without a window");
    writer.wholes(&key("attention.head_count_kv"), &heads.iter().map(|heads| heads.kv).collect::<Vec<_>>());
    let inner: Vec<_> = spec.blocks.iter().map(|block| block.mlp.intermediate).collect();
    writer.wholes(&key("feed_forward_length"), &inner);
    for (name, dim) in [("", heads[full].dim), ("_swa", spec.heads.dim)] {
        writer.whole(&key(&format!("attention.key_length{name}")), dim);
        writer.whole(&key(&format!("attention.value_length{name}")), dim);
        writer.whole(&key(&format!("rope.dimension_count{name}")), dim);
    }
    let windows: Vec<_> = spec.blocks.iter().map(|block| block.attention.window.is_some()).collect();
    writer.flags(&key("attention.sliding_window_pattern"), &windows);
    writer.float(&key("rope.freq_base"), 1_000_000.0);
    writer.float(&key("rope.freq_base_swa"), 10_000.0);
    writer.float(&key("final_logit_softcapping"), spec.head.soft_cap.expect("a cap"));
    let shared = all.filter(|&block| spec.keys_of(block) != block).count();
    writer.whole(&key("attention.shared_kv_layers"), shared);
    writer.whole(&key("embedding_length_per_layer_input"), spec.layer_inputs.map_or(0, |inputs| inputs.width));
    if let Some(experts) = spec.blocks[0].beside {
        writer.whole(&key("expert_feed_forward_length"), experts.intermediate);
        writer.whole(&key("expert_count"), experts.experts.expect("experts").count);
        writer.whole(&key("expert_used_count"), experts.experts.expect("experts").used);
    }
    let pairs = heads[full].dim / 2;
    let factors: Vec<f32> = (0..pairs).map(|pair| if pair < pairs / 4 { 1.0 } else { 1e30 }).collect();
    writer.tensor("rope_freqs.weight", &[pairs], &factors, TensorType::F32);
}

/// Channels `i` and `i + dim / 2` of a head side by side.
fn neighbours(values: &[f32], dim: usize, columns: usize) -> Vec<f32> {
    let head = |head: &[f32]| {
        let row = |row: usize| head[row * columns..(row + 1) * columns].to_vec();
        (0..dim).flat_map(|row_of| row(row_of / 2 + row_of % 2 * dim / 2)).collect::<Vec<_>>()
    };
    values.chunks(dim * columns).flat_map(head).collect()
}

fn gated(spec: &ModelSpec) -> bool {
    spec.blocks.iter().any(|block| block.attention.gated)
}

fn fields(writer: &mut Writer, spec: &ModelSpec, architecture: &str) {
    writer.text("general.architecture", architecture);
    let key = |name: &str| format!("{architecture}.{name}");
    let block = &spec.blocks[0];
    writer.whole(&key("context_length"), spec.context);
    writer.whole(&key("embedding_length"), spec.hidden);
    writer.whole(&key("block_count"), spec.blocks.len());
    writer.whole(&key("feed_forward_length"), block.mlp.intermediate);
    writer.whole(&key("attention.head_count"), spec.heads.query);
    writer.whole(&key("attention.head_count_kv"), spec.heads.kv);
    writer.whole(&key("attention.key_length"), spec.heads.dim);
    writer.whole(&key("attention.value_length"), spec.heads.dim);
    let eps = if spec.norm.kind == NormKind::Layer { "layer_norm_epsilon" } else { "layer_norm_rms_epsilon" };
    writer.float(&key(&format!("attention.{eps}")), spec.norm.eps);
    let rotary = block.attention.rotary.as_ref().expect("rotary positions");
    writer.whole(&key("rope.dimension_count"), rotary.dims);
    writer.float(&key("rope.freq_base"), rotary.base as f32);
    if let Some(experts) = block.mlp.experts {
        writer.whole(&key("expert_count"), experts.count);
        writer.whole(&key("expert_used_count"), experts.used);
    }
    if gated(spec) {
        delta::fields(writer, spec, architecture);
    }
    // Converters write zero where there is none.
    writer.whole(&key("attention.sliding_window"), block.attention.window.unwrap_or(0));
    if architecture.starts_with("granite") {
        writer.float(&key("embedding_scale"), spec.embedding.scale);
        writer.float(&key("residual_scale"), block.residual_scale);
        writer.float(&key("attention.scale"), block.attention.scale);
        writer.float(&key("logit_scale"), spec.head.scale.recip());
    }
}

fn vocabulary(writer: &mut Writer, model: &Model, folder: &Path) {
    let file = std::fs::read(folder.join("tokenizer.json")).expect("a tokenizer");
    let whole: Value = serde_json::from_slice(&file).expect("JSON");
    let bpe = &whole["model"];
    let merges: Vec<String> = bpe["merges"]
        .as_array()
        .expect("merges")
        .iter()
        .map(|merge| match merge {
            Value::String(merge) => merge.clone(),
            pair => format!("{} {}", pair[0].as_str().expect("a text"), pair[1].as_str().expect("a text")),
        })
        .collect();
    let size = model.spec.vocab_size;
    let mut tokens: Vec<String> = (0..size).map(|id| format!("[PAD{id}]")).collect();
    let mut types = vec![1u32; size];
    for (token, id) in bpe["vocab"].as_object().expect("a vocabulary") {
        tokens[id.as_u64().expect("an id") as usize].clone_from(token);
    }
    for added in whole["added_tokens"].as_array().expect("a list") {
        let id = added["id"].as_u64().expect("an id") as usize;
        added["content"].as_str().expect("a text").clone_into(&mut tokens[id]);
        types[id] = if added["special"] == true { 3 } else { 4 };
    }
    let key = |name: &str| format!("tokenizer.ggml.{name}");
    let texts = |list: &[String]| list.iter().map(|token| text(token)).collect::<Vec<_>>();
    if bpe["byte_fallback"] == true {
        writer.text(&key("model"), "llama");
        let scores = tokens.iter().enumerate().map(|(id, token)| {
            if bpe["unk_token"] == token.as_str() {
                types[id] = 2;
            }
            let rank = merges.iter().position(|merge| merge.replacen(' ', "", 1) == *token);
            rank.map_or(-1e9f32, |rank| -(rank as f32))
        });
        let scores: Vec<_> = scores.map(|score| score.to_le_bytes().to_vec()).collect();
        writer.list(&key("scores"), 6, &scores);
        writer.flag(&key("add_space_prefix"), whole["normalizer"].to_string().contains("Prepend"));
    } else {
        let cut = whole["pre_tokenizer"].to_string();
        let names = [("p{P}", "deepseek-coder"), ("{1,3}", "llama-bpe"), ("Regex", "qwen2"), ("Digits", "starcoder")];
        let pre = names.into_iter().find(|(part, _)| cut.contains(part)).map_or("gpt-2", |(_, name)| name);
        writer.text(&key("model"), "gpt2");
        writer.text(&key("pre"), pre);
        writer.list(&key("merges"), 8, &texts(&merges));
    }
    writer.list(&key("tokens"), 8, &texts(&tokens));
    writer.list(&key("token_type"), 5, &types.iter().map(|kind| kind.to_le_bytes().to_vec()).collect::<Vec<_>>());
    writer.flag(&key("add_bos_token"), whole["post_processor"].to_string().contains("TemplateProcessing"));
    for (field, ids) in [("bos", model.spec.bos.as_slice()), ("eos", &model.eos)] {
        ids.iter().take(1).for_each(|&id| writer.whole(&key(&format!("{field}_token_id")), id as usize));
    }
}
