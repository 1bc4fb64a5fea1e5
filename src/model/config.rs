//! `config.json` to [`ModelSpec`].

mod rotary;

use std::path::Path;

use super::arch::{self, Architecture, Positions, Switch, Value, WithImages};
use super::fields::{self, Fields};
use super::spec::{Activation, Attention, Block, Embedding, Head, Heads, Mlp, ModelSpec, Norm};
use super::{ModelError, draft_head};

pub(super) use rotary::{proportional, rotary_of};

/// Most blocks, and most experts of a block, that are believed: each takes memory before a tensor is looked
/// for.
const MAX_PARTS: usize = 1024;

/// Name of the file.
pub const FILE: &str = "config.json";

/// Reads the configuration of a model in Hugging Face layout.
pub fn of_folder(folder: &Path) -> Result<ModelSpec, ModelError> {
    let (path, bytes) = super::required(folder, FILE, "it describes the model's architecture")?;
    read(&path, &bytes)
}

/// Reads `bytes`, the content of the `config.json` at `path`.
pub fn read(path: &Path, bytes: &[u8]) -> Result<ModelSpec, ModelError> {
    let map = fields::parse(path, bytes)?;
    let fields = Fields::new(path, &map);
    let name = fields.get("architectures").and_then(|list| list.get(0)?.as_str());
    let nested = fields.get("text_config").is_some();
    let is = |known: &&WithImages| {
        Some(known.name) == name && (nested || known.text.iter().all(|text| text.name != known.name))
    };
    let Some(whole) = arch::WITH_IMAGES.iter().find(is) else {
        return read_as(architecture(fields)?, fields);
    };
    let Some(text) = fields.get("text_config").and_then(|text| text.as_object()) else {
        return Err(fields.error("text_config", "an object"));
    };
    let kind = Fields::with_prefix(path, "text_config.", text);
    let arch = match kind.text("model_type")? {
        None => whole.text[0],
        Some(name) => *whole.text.iter().find(|arch| arch.model_type == name).ok_or_else(|| {
            let known: Vec<_> = whole.text.iter().map(|arch| format!("{:?}", arch.model_type)).collect();
            kind.error("model_type", &format!("one of {}", known.join(", ")))
        })?,
    };
    let mut text = text.clone();
    for name in ["bos_token_id", "eos_token_id", "tie_word_embeddings", "quantization_config"] {
        if let Some(value) = fields.get(name) {
            text.entry(name).or_insert_with(|| value.clone());
        }
    }
    for (name, value) in whole.usual {
        text.entry(*name).or_insert_with(|| (*value).into());
    }
    read_as(arch, Fields::with_prefix(path, "text_config.", &text))
}

/// Reads the fields of a configuration of `arch`.
pub fn read_as(arch: &Architecture, fields: Fields<'_>) -> Result<ModelSpec, ModelError> {
    refuse(arch, fields)?;
    let on = |switch| match switch {
        Switch::Always => Ok(true),
        Switch::Never => Ok(false),
        Switch::Field(field) => Ok(fields.flag(field)?.unwrap_or(false)),
        Switch::Unless(field) => Ok::<_, ModelError>(fields.flag(field)?.unwrap_or(true)),
    };
    let names = arch.fields;
    let hidden = fields.required_size(names.hidden)?;
    let layers = fields.required_size(names.layers)?;
    if layers > MAX_PARTS {
        return Err(fields.error(names.layers, &format!("a whole number up to {MAX_PARTS}")));
    }
    let heads = heads(arch, fields, hidden)?;
    let mut context = fields.required_size(names.context)?;
    let (rotary, positions) = match arch.positions {
        Positions::Learned(from) => (None, Some(from)),
        Positions::Rotary { share, interleaved } => {
            let (mut rotary, longest) = rotary::read(arch, fields, context, (heads.dim, share))?;
            rotary.interleaved = interleaved;
            context = longest;
            (Some(rotary), None)
        }
    };
    let block = Block {
        wiring: arch.wiring,
        residual_scale: 1.0,
        attention: Attention {
            qkv_bias: on(arch.qkv_bias)?,
            output_bias: on(arch.output_bias)?,
            qk_norm: on(arch.qk_norm)?,
            rotary,
            window: if on(arch.window)? { window(arch, fields)? } else { None },
            scale: (heads.dim as f32).sqrt().recip(),
            soft_cap: None,
            gated: false,
            query_growth: None,
            heads: None,
            value_norm: false,
            value_is_key: false,
            keys_of: None,
            sinks: false,
            from: 0,
            ahead: false,
        },
        mlp: Mlp {
            intermediate: match fields.size(names.intermediate)? {
                None if names.four_times => 4 * hidden,
                None => fields.required_size(names.intermediate)?,
                Some(size) => size,
            },
            activation: activation(fields, names.activation, arch.activation)?,
            gated: arch.gated,
            bias: on(arch.mlp_bias)?,
            experts: None,
        },
        delta: None,
        beside: None,
        output_scale: false,
    };
    let mut spec = ModelSpec {
        architecture: arch.name,
        hidden,
        vocab_size: fields.required_size("vocab_size")?,
        context,
        embedding: Embedding { width: hidden, scale: 1.0, positions },
        heads,
        norm: Norm { kind: arch.norm, eps: fields.positive(names.eps)?.unwrap_or(arch.eps) as f32 },
        blocks: vec![block; layers],
        final_norm: true,
        head: Head {
            tied: fields.flag("tie_word_embeddings")?.unwrap_or(arch.tied),
            bias: on(arch.head_bias)?,
            scale: 1.0,
            soft_cap: None,
        },
        bos: fields.ids("bos_token_id")?.and_then(|ids| ids.first().copied()),
        eos: fields.ids("eos_token_id")?.unwrap_or_default(),
        mask: mask(fields)?,
        names: arch.names,
        layer_inputs: None,
        states: None,
    };
    if !arch.delta_nets {
        layer_types(fields, &mut spec)?;
    }
    (arch.adjust)(fields, &mut spec)?;
    for block in &mut spec.blocks {
        // A window that reaches as far as the context is none.
        block.attention.window = block.attention.window.filter(|&window| window < context);
        if let Some(experts) = block.mlp.experts.or(block.beside.and_then(|mlp| mlp.experts))
            && (experts.count > MAX_PARTS || experts.used > experts.count)
        {
            let expected = format!("no more than the number of experts, and these up to {MAX_PARTS}");
            return Err(fields.error("num_experts_per_tok", &expected));
        }
    }
    Ok(spec)
}

/// The mask token of a model that drafts several tokens in one pass: `pard_token` of PARD's checkpoints.
fn mask(fields: Fields<'_>) -> Result<Option<u32>, ModelError> {
    let Some(mask) = fields.whole("pard_token")? else { return Ok(None) };
    let vocab = fields.required_size("vocab_size")?;
    if mask >= vocab {
        return Err(fields.error("pard_token", &format!("an id below {vocab}, the vocab_size")));
    }
    Ok(Some(mask as u32))
}

fn architecture(fields: Fields<'_>) -> Result<&'static Architecture, ModelError> {
    let known = || arch::ALL.iter().map(|arch| arch.name).collect::<Vec<_>>().join(", ");
    let (field, found) = if let Some(list) = fields.get("architectures") {
        let name = list.get(0).and_then(|name| name.as_str());
        ("architectures", arch::ALL.iter().find(|arch| Some(arch.name) == name))
    } else {
        let name = fields.text("model_type")?;
        ("model_type", arch::ALL.iter().find(|arch| Some(arch.model_type) == name))
    };
    found.copied().ok_or_else(|| {
        if draft_head::is_one(fields) {
            let expected =
                "a model: this is a draft head; give it to --draft, beside the model that it was trained for";
            return fields.error(field, expected);
        }
        fields.error(field, &format!("one of the supported architectures: {}", known()))
    })
}

/// Refuses values that change what a model computes in ways that aren't supported.
fn refuse(arch: &Architecture, fields: Fields<'_>) -> Result<(), ModelError> {
    let method = fields.get("quantization_config").map(|how| how.get("quant_method").and_then(|how| how.as_str()));
    if method.is_some_and(|method| !(arch.blocks_of_four_bits && method == Some("mxfp4"))) {
        let expected = if method == Some(Some("fp8")) {
            "nothing: weights in 8-bit floats are not read; get a GGUF file of the model, or its weights in BF16"
        } else {
            "nothing: of quantised models only GGUF files are read; get the model's original weights"
        };
        return Err(fields.error("quantization_config", expected));
    }
    for (field, only) in arch.only {
        let expected = match *only {
            Value::Flag(flag) => fields.flag(field)?.filter(|&found| found != flag).map(|_| flag.to_string()),
            Value::Number(number) => {
                let found = fields.positive(field)?;
                found.filter(|found| found.to_bits() != number.to_bits()).map(|_| number.to_string())
            }
            Value::Text(text) => fields.text(field)?.filter(|&found| found != text).map(|_| format!("{text:?}")),
        };
        if let Some(expected) = expected {
            return Err(fields.error(field, &format!("{expected}, the only value that is supported")));
        }
    }
    Ok(())
}

fn heads(arch: &Architecture, fields: Fields<'_>, hidden: usize) -> Result<Heads, ModelError> {
    let query = fields.required_size(arch.fields.heads)?;
    let kv = fields.size(arch.fields.kv_heads)?.unwrap_or(query);
    if !query.is_multiple_of(kv) {
        let expected = format!("a divisor of `{}`, {query}", arch.fields.heads);
        return Err(fields.error(arch.fields.kv_heads, &expected));
    }
    let dim = match fields.size("head_dim")? {
        Some(dim) => dim,
        None if hidden.is_multiple_of(query) => hidden / query,
        None => {
            let expected = format!("a divisor of `{}`, {hidden}", arch.fields.hidden);
            return Err(fields.error(arch.fields.heads, &expected));
        }
    };
    Ok(Heads { query, kv, dim })
}

/// The nonlinearity that stands in `field`, or else `default`.
pub(super) fn activation(fields: Fields<'_>, field: &str, default: Option<&str>) -> Result<Activation, ModelError> {
    match fields.text(field)?.or(default) {
        Some("silu" | "swish") => Ok(Activation::Silu),
        Some("gelu" | "gelu_python") => Ok(Activation::Gelu),
        Some("gelu_new" | "gelu_pytorch_tanh" | "gelu_fast") => Ok(Activation::GeluTanh),
        Some("relu") => Ok(Activation::Relu),
        _ => Err(fields.error(field, "one of \"silu\", \"gelu\", \"gelu_new\", \"gelu_pytorch_tanh\", \"relu\"")),
    }
}

fn window(arch: &Architecture, fields: Fields<'_>) -> Result<Option<usize>, ModelError> {
    let default = arch.default_window.filter(|_| !fields.is_null("sliding_window"));
    Ok(fields.size("sliding_window")?.or(default))
}

/// Takes the window from the blocks that `layer_types` says see everything.
fn layer_types(fields: Fields<'_>, spec: &mut ModelSpec) -> Result<(), ModelError> {
    let Some(types) = fields.texts("layer_types")? else { return Ok(()) };
    // "attention" is the first in hybrids.
    let known = ["full_attention", "sliding_attention", "attention"];
    let others: Vec<_> = types.iter().zip(0..).filter(|(kind, _)| !known.contains(kind)).collect();
    if types.len() != spec.blocks.len() || !others.is_empty() {
        let numbers: Vec<_> = others.iter().map(|(_, number): &(_, usize)| number.to_string()).collect();
        let others = others.first().map_or(String::new(), |(kind, _)| {
            format!("; layers that are no attention, such as {kind:?}, cannot be computed: {}", numbers.join(", "))
        });
        let expected = format!("{} times \"full_attention\" or \"sliding_attention\"{others}", spec.blocks.len());
        return Err(fields.error("layer_types", &expected));
    }
    for (block, kind) in spec.blocks.iter_mut().zip(types) {
        block.attention.window = block.attention.window.filter(|_| kind == "sliding_attention");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spec::{QueryGrowth, Rotary, RotaryScaling};

    fn config(extra: &str) -> String {
        format!(
            r#"{{"architectures":["LlamaForCausalLM"],"hidden_size":64,"num_hidden_layers":2,"vocab_size":100,
            "max_position_embeddings":128,"num_attention_heads":4,"intermediate_size":96,"hidden_act":"silu"{extra}}}"#
        )
    }

    fn hybrid(extra: &str) -> String {
        let text = config(&format!(r#","shared_intermediate_size":96,{extra}"#));
        text.replace("Llama", "GraniteMoeHybrid")
    }

    fn read_text(text: &str) -> Result<ModelSpec, ModelError> {
        read(Path::new("dir/config.json"), text.as_bytes())
    }

    fn rotary(extra: &str) -> Rotary {
        let spec = read_text(&config(extra)).expect("a readable configuration");
        spec.blocks[0].attention.rotary.clone().expect("rotary positions")
    }

    fn windows(text: &str) -> Vec<Option<usize>> {
        let spec = read_text(text).expect("readable");
        spec.blocks.iter().map(|block| block.attention.window).collect()
    }

    #[test]
    fn absent_and_null_fields_have_the_reference_defaults() {
        let spec = read_text(&config(r#","rope_scaling":null,"head_dim":null"#)).expect("readable");
        assert_eq!(spec.heads, Heads { query: 4, kv: 4, dim: 16 });
        let plain = Rotary { dims: 16, interleaved: false, base: 10_000.0, scaling: RotaryScaling::None };
        assert_eq!(spec.blocks[1].attention.rotary, Some(plain));
        assert!(!spec.head.tied && !spec.blocks[0].mlp.bias && spec.eos.is_empty());
    }

    #[test]
    fn a_mask_is_a_token_of_the_vocabulary() {
        let mask = |extra| read_text(&config(extra)).map(|spec| spec.mask).map_err(|error| error.to_string());
        assert_eq!((mask(""), mask(r#","pard_token":99"#)), (Ok(None), Ok(Some(99))));
        let message = mask(r#","pard_token":100"#).expect_err("beyond the vocabulary");
        assert!(message.contains("pard_token") && message.contains("below 100"), "{message}");
    }

    #[test]
    fn both_spellings_of_rotary_settings_mean_the_same() {
        let linear = RotaryScaling::Linear { factor: 4.0 };
        let scaling = |extra| rotary(extra).scaling;
        assert_eq!(scaling(r#","rope_scaling":{"type":"linear","factor":4.0}"#), linear);
        assert_eq!(scaling(r#","rope_scaling":{"rope_type":"linear","factor":4}"#), linear);
        assert_eq!(scaling(r#","rope_parameters":{"rope_type":"linear","factor":4,"rope_theta":5e5}"#), linear);
        let plain = rotary(r#","rope_parameters":{"rope_type":"default","rope_theta":5e5}"#);
        assert_eq!((plain.base, plain.scaling), (5e5, RotaryScaling::None));
        assert_eq!(rotary(r#","partial_rotary_factor":0.5"#).dims, 8);
        assert_eq!(rotary(r#","rope_parameters":{"partial_rotary_factor":0.25}"#).dims, 4);
    }

    #[test]
    fn experts_are_counted_by_either_name() {
        let config = |count: &str| {
            let experts = format!(r#","{count}":6,"num_experts_per_tok":2,"moe_intermediate_size":48"#);
            read_text(&config(&experts).replace("Llama", "Qwen3Moe"))
        };
        for count in ["num_experts", "num_local_experts"] {
            let spec = config(count).expect("readable");
            assert_eq!(
                spec.blocks[0].mlp.experts.map(|experts| (experts.count, experts.used)),
                Some((6, 2)),
                "{count}"
            );
        }
        let message = config("experts").expect_err("no number of experts").to_string();
        assert!(message.contains("`num_experts`"), "{message}");
    }

    #[test]
    fn scaling_that_depends_on_the_length_of_a_text_holds_up_to_the_original_context() {
        let dynamic = read_text(&config(r#","rope_scaling":{"type":"dynamic","factor":2}"#)).expect("readable");
        assert_eq!((dynamic.context, rotary("").scaling), (128, RotaryScaling::None));
        let factors = "[1,1,1,1,1,1,1,2.5]";
        let long = format!(
            r#","original_max_position_embeddings":32,"rope_scaling":{{"type":"longrope","short_factor":{factors},"long_factor":{factors}}}"#
        );
        let spec = read_text(&config(&long)).expect("readable");
        assert_eq!(spec.context, 32);
        let RotaryScaling::PerFrequency { factors, attention_factor } = rotary(&long).scaling else { panic!() };
        assert!((factors[7] - 2.5).abs() < 1e-9 && (attention_factor - 1.4f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn unusable_values_are_sentences_that_name_file_and_field() {
        let cases = [
            (config(r#","rope_scaling":{"type":"ntk","factor":2}"#), "rope_scaling.type"),
            (config(r#","rope_scaling":{"type":"longrope"}"#), "rope_scaling.short_factor"),
            (config(r#","partial_rotary_factor":0.2"#), "partial_rotary_factor"),
            (config(r#","quantization_config":{"bits":4}"#), "quantization_config"),
            (config("").replace(r#""num_hidden_layers":2"#, r#""num_hidden_layers":99999"#), "num_hidden_layers"),
            (config(r#","qk_layernorm":true"#).replace("Llama", "StableLm"), "qk_layernorm"),
            (
                config(r#","quantization_config":{"quant_method":"fp8"}"#).replace("Llama", "Ministral3"),
                "quantization_config",
            ),
            (config("").replace("Llama", "Ministral3"), "rope_parameters"),
            (
                config("").replace("Llama", "SmolLM3").replace("silu\"", "silu\",\"no_rope_layers\":[1]"),
                "no_rope_layers",
            ),
            (hybrid(r#""num_local_experts":8,"layer_types":["attention","attention"]"#), "num_local_experts"),
            (
                hybrid(
                    r#""num_local_experts":0,"position_embedding_type":"alibi","layer_types":["attention","attention"]"#,
                ),
                "position_embedding_type",
            ),
            (hybrid(r#""num_local_experts":0,"layer_types":["attention","mamba"]"#), "layer_types"),
            (hybrid(r#""num_local_experts":0"#), "layer_types"),
            (config(r#","mlp_layer_types":["sparse","other"]"#).replace("Llama", "Mellum"), "mlp_layer_types"),
            (config(r#","norm_type":"rms_norm""#).replace("Llama", "Starcoder2"), "norm_type"),
            (config(r#","layer_types":["full_attention"]"#), "layer_types"),
            (config(r#","layer_types":["full_attention","chunked_attention"]"#), "layer_types"),
            (
                config(r#","num_local_experts":2,"num_experts_per_tok":3"#).replace("Llama", "Mixtral"),
                "num_experts_per_tok",
            ),
            (config(r#","rope_scaling":{"rope_type":"linear"}"#), "rope_scaling.factor"),
            (config(r#","num_key_value_heads":3"#), "num_key_value_heads"),
            (config(r#","eos_token_id":"x""#), "eos_token_id"),
            (config(r#","tie_word_embeddings":1"#), "tie_word_embeddings"),
            (config("").replace("silu", "mish"), "hidden_act"),
            (config("").replace("LlamaForCausalLM", "T5Model"), "architectures"),
            (config("").replace(r#""hidden_size":64"#, r#""hidden_size":-1"#), "hidden_size"),
            (config("").replace(r#""vocab_size":100,"#, ""), "vocab_size"),
            (config("").replace(r#""hidden_size":64"#, r#""hidden_size":99999999999"#), "hidden_size"),
        ];
        for (text, field) in cases {
            let message = read_text(&text).expect_err(field).to_string();
            assert!(message.starts_with("dir/config.json: ") && message.contains(&format!("`{field}`")), "{message}");
        }
        for text in ["[1]", "{", " "] {
            let message = read_text(text).expect_err("not an object").to_string();
            assert!(message.starts_with("dir/config.json: not readable as JSON"), "{message}");
        }
    }

    #[test]
    fn hybrids_without_mamba_layers_are_read_and_others_say_which_layers_are() {
        let spec = |extra: &str| read_text(&hybrid(&format!(r#""num_local_experts":0,{extra}"#)));
        let rotated = |extra: &str| spec(extra).expect("readable").blocks[0].attention.rotary.is_some();
        assert!(rotated(r#""layer_types":["attention","attention"],"position_embedding_type":"rope""#));
        assert!(!rotated(r#""layer_types":["attention","attention"]"#));
        let message = spec(r#""layer_types":["mamba","attention"]"#).expect_err("a Mamba layer").to_string();
        assert!(message.contains("such as \"mamba\", cannot be computed: 0"), "{message}");
    }

    #[test]
    fn queries_grow_from_the_original_context_on() {
        let growth = QueryGrowth { beta: 0.5, context: 64.0 };
        assert_eq!([0, 63].map(|position| growth.at(position).to_bits()), [1f32.to_bits(); 2]);
        assert!((growth.at(64) - (1.0 + 0.5 * 2f32.ln())).abs() < 1e-6);
        let yarn = r#","rope_parameters":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":32,"llama_4_scaling_beta":0.5}"#;
        let spec = read_text(&config(yarn).replace("Llama", "Ministral3")).expect("readable");
        assert_eq!(spec.blocks[1].attention.query_growth, Some(QueryGrowth { beta: 0.5, context: 32.0 }));
    }

    #[test]
    fn of_a_model_for_text_and_images_the_text_may_be_one_of_several() {
        let read = |kind: &str| {
            let text =
                config(&format!(r#","model_type":"{kind}""#)).replace(r#""architectures":["LlamaForCausalLM"],"#, "");
            read_text(&format!(r#"{{"architectures":["Mistral3ForConditionalGeneration"],"text_config":{text}}}"#))
        };
        assert_eq!(read("mistral").expect("readable").architecture, "MistralForCausalLM");
        let message = read("mistral4").expect_err("unknown").to_string();
        assert!(message.contains("`text_config.model_type`") && message.contains("\"ministral3\""), "{message}");
    }

    fn gemma4(extra: &str) -> Result<ModelSpec, ModelError> {
        let text = config(&format!(
            r#","head_dim":16,"hidden_size_per_layer_input":0,"sliding_window":8,"num_key_value_heads":2,
            "layer_types":["sliding_attention","full_attention"]{extra}"#
        ));
        read_text(&text.replace("Llama", "Gemma4"))
    }

    #[test]
    fn gemma_4_has_wide_heads_where_it_sees_everything() {
        let wide = r#","global_head_dim":32,"num_global_key_value_heads":1"#;
        let heads = |extra: &str| gemma4(extra).map(|spec| [spec.heads_of(0), spec.heads_of(1)]).expect(extra);
        let [narrow, same] = [Heads { query: 4, kv: 2, dim: 16 }, Heads { query: 4, kv: 1, dim: 32 }];
        assert_eq!(heads(&format!(r#","attention_k_eq_v":true{wide}"#)), [narrow, same]);
        assert_eq!(heads(wide), [narrow, Heads { kv: 2, ..same }], "only with values that are keys");
        assert_eq!(heads(""), [narrow, Heads { kv: 2, dim: 512, ..same }]);
        let again = r#","attention_k_eq_v":true,"per_layer_config":{"1":{"head_dim":32,"num_key_value_heads":1}}"#;
        assert_eq!(heads(again), [narrow, same]);
        assert!(gemma4(r#","attention_k_eq_v":true"#).expect("readable").blocks[1].attention.value_is_key);
        let message = gemma4(r#","num_kv_shared_layers":1"#).expect_err("nothing to share").to_string();
        assert!(message.contains("`num_kv_shared_layers`") && message.contains("block 1"), "{message}");
        for (extra, field) in [
            (r#","use_bidirectional_attention":"all""#, "use_bidirectional_attention"),
            (r#","hidden_size_per_layer_input":4,"vocab_size_per_layer_input":99"#, "vocab_size_per_layer_input"),
            (r#","enable_moe_block":true,"num_experts":2,"top_k_experts":3,"moe_intermediate_size":8"#, "num_experts"),
            (r#","global_head_dim":15"#, "num_global_key_value_heads"),
        ] {
            let message = gemma4(extra).expect_err(extra).to_string();
            assert!(message.contains(&format!("`{field}")), "{message}");
        }
    }

    #[test]
    fn experts_of_gpt_oss_may_be_in_blocks_of_four_bits_and_nothing_else() {
        let extra = r#","num_local_experts":4,"num_experts_per_tok":2,"rope_scaling":{"rope_type":"yarn","factor":2}"#;
        let read = |more: &str| read_text(&config(&format!("{extra}{more}")).replace("Llama", "GptOss"));
        let spec = read(r#","quantization_config":{"quant_method":"mxfp4"}"#).expect("readable");
        assert!(spec.blocks.iter().all(|block| block.attention.sinks && block.mlp.bias && block.attention.qkv_bias));
        for (more, field) in [
            (r#","swiglu_limit":6.0"#, "swiglu_limit"),
            (r#","quantization_config":{"quant_method":"gptq"}"#, "quantization_config"),
        ] {
            let message = read(more).expect_err(more).to_string();
            assert!(message.contains(&format!("`{field}`")), "{message}");
        }
        let mxfp4 = config(r#","quantization_config":{"quant_method":"mxfp4"}"#);
        assert!(read_text(&mxfp4).expect_err("another architecture").to_string().contains("`quantization_config`"));
        assert!(read_text(&config(r#","num_local_experts":4"#).replace("Llama", "GptOss")).is_err(), "no scaling");
    }

    #[test]
    fn windows_are_where_the_reference_has_them() {
        let qwen = |extra: &str| config(extra).replace("Llama", "Qwen2");
        assert_eq!(windows(&qwen(r#","sliding_window":32,"use_sliding_window":false"#)), [None, None]);
        let on = r#","sliding_window":32,"use_sliding_window":true"#;
        assert_eq!(windows(&qwen(&format!(r#"{on},"max_window_layers":1"#))), [None, Some(32)]);
        assert_eq!(windows(&qwen(&format!(r#"{on},"max_window_layers":0"#))), [Some(32), Some(32)]);
        assert_eq!(windows(&qwen(on)), [None, None], "28 blocks see everything");
        let types = r#""layer_types":["sliding_attention","full_attention"]"#;
        assert_eq!(windows(&qwen(&format!("{on},{types}"))), [Some(32), None]);
        let mistral = |extra: &str| config(extra).replace("Llama", "Mistral");
        assert_eq!(windows(&mistral(r#","sliding_window":32"#)), [Some(32), Some(32)]);
        assert_eq!(windows(&mistral(r#","sliding_window":null"#)), [None, None]);
        assert_eq!(windows(&mistral(r#","sliding_window":128"#)), [None, None], "as long as the context");
        let long = |extra: &str| extra.replace(":128", ":8192");
        assert_eq!(windows(&long(&mistral(""))), [Some(4096), Some(4096)]);
        assert_eq!(windows(&long(&mistral(r#","sliding_window":null"#))), [None, None]);
        let gemma = config(r#","sliding_window":16"#).replace("Llama", "Gemma2");
        assert_eq!(windows(&gemma), [Some(16), None]);
    }
}
