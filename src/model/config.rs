//! `config.json` to [`ModelSpec`].

use std::path::Path;

use super::ModelError;
use super::arch::{self, Architecture, Switch};
use super::fields::{self, Fields};
use super::spec::{Activation, Attention, Mlp, ModelSpec, Norm, Position, Rotary, RotaryScaling, Wiring};

/// Reads `bytes`, the content of the `config.json` at `path`.
pub fn read(path: &Path, bytes: &[u8]) -> Result<ModelSpec, ModelError> {
    let map = fields::parse(path, bytes)?;
    let fields = Fields::new(path, &map);
    let arch = architecture(fields)?;
    let on = |switch| match switch {
        Switch::Always => Ok(true),
        Switch::Never => Ok(false),
        Switch::Field(field) => Ok(fields.flag(field)?.unwrap_or(false)),
    };
    if let Switch::Field(field) = arch.window
        && on(arch.window)?
    {
        return Err(fields.error(field, "false: attention windows are not supported"));
    }
    let hidden = fields.required_size("hidden_size")?;
    let context = fields.required_size("max_position_embeddings")?;
    Ok(ModelSpec {
        architecture: arch.name,
        hidden,
        layers: fields.required_size("num_hidden_layers")?,
        vocab_size: fields.required_size("vocab_size")?,
        context,
        norm: Norm::Rms { eps: fields.positive("rms_norm_eps")?.unwrap_or(1e-6) as f32 },
        position: Position::Rotary(rotary(fields, context)?),
        attention: Attention {
            qkv_bias: on(arch.qkv_bias)?,
            output_bias: on(arch.output_bias)?,
            qk_norm: on(arch.qk_norm)?,
            ..heads(fields, hidden)?
        },
        wiring: Wiring::SequentialPreNorm,
        mlp: Mlp {
            intermediate: fields.required_size("intermediate_size")?,
            activation: activation(fields)?,
            bias: on(arch.mlp_bias)?,
        },
        tied: fields.flag("tie_word_embeddings")?.unwrap_or(false),
        bos: fields.ids("bos_token_id")?.and_then(|ids| ids.first().copied()),
        eos: fields.ids("eos_token_id")?.unwrap_or_default(),
        names: arch.names,
    })
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
    found.copied().ok_or_else(|| fields.error(field, &format!("one of the supported architectures: {}", known())))
}

fn heads(fields: Fields<'_>, hidden: usize) -> Result<Attention, ModelError> {
    let heads = fields.required_size("num_attention_heads")?;
    let kv_heads = fields.size("num_key_value_heads")?.unwrap_or(heads);
    if !heads.is_multiple_of(kv_heads) {
        return Err(fields.error("num_key_value_heads", &format!("a divisor of `num_attention_heads`, {heads}")));
    }
    let head_dim = match fields.size("head_dim")? {
        Some(head_dim) => head_dim,
        None if hidden.is_multiple_of(heads) => hidden / heads,
        None => return Err(fields.error("num_attention_heads", &format!("a divisor of `hidden_size`, {hidden}"))),
    };
    if !head_dim.is_multiple_of(2) {
        return Err(fields.error("head_dim", &format!("an even head width (it is {head_dim})")));
    }
    Ok(Attention { heads, kv_heads, head_dim, qkv_bias: false, output_bias: false, qk_norm: false })
}

fn activation(fields: Fields<'_>) -> Result<Activation, ModelError> {
    match fields.text("hidden_act")? {
        Some("silu") => Ok(Activation::Silu),
        _ => Err(fields.error("hidden_act", "\"silu\"")),
    }
}

/// Rotary settings stand either in `rope_theta` and `rope_scaling`, or in `rope_parameters`; the kind of
/// scaling is called `rope_type` or, in older files, `type`.
fn rotary(fields: Fields<'_>, context: usize) -> Result<Rotary, ModelError> {
    if fields.positive("partial_rotary_factor")?.is_some_and(|factor| (factor - 1.0).abs() > f64::EPSILON) {
        return Err(fields.error("partial_rotary_factor", "1"));
    }
    let outer_base = fields.positive("rope_theta")?;
    let nested = match fields.object("rope_parameters", "rope_parameters.")? {
        Some(nested) => Some(nested),
        None => fields.object("rope_scaling", "rope_scaling.")?,
    };
    let Some(nested) = nested else {
        return Ok(Rotary { base: outer_base.unwrap_or(10_000.0), scaling: RotaryScaling::None });
    };
    let base = nested.positive("rope_theta")?.or(outer_base).unwrap_or(10_000.0);
    let (kind_field, kind) = match nested.text("rope_type")? {
        Some(kind) => ("rope_type", kind),
        None => ("type", nested.text("type")?.unwrap_or("default")),
    };
    let original_context = || Ok(nested.positive("original_max_position_embeddings")?.unwrap_or(context as f64));
    let scaling = match kind {
        "default" => RotaryScaling::None,
        "linear" => RotaryScaling::Linear { factor: nested.required_positive("factor")? },
        "llama3" => llama3(nested)?,
        "yarn" => yarn(nested, original_context()?)?,
        _ => return Err(nested.error(kind_field, "one of \"default\", \"linear\", \"llama3\", \"yarn\"")),
    };
    Ok(Rotary { base, scaling })
}

fn llama3(fields: Fields<'_>) -> Result<RotaryScaling, ModelError> {
    let low_freq_factor = fields.required_positive("low_freq_factor")?;
    let high_freq_factor = fields.required_positive("high_freq_factor")?;
    if high_freq_factor <= low_freq_factor {
        return Err(fields.error("high_freq_factor", "more than `low_freq_factor`"));
    }
    Ok(RotaryScaling::Llama3 {
        factor: fields.required_positive("factor")?,
        low_freq_factor,
        high_freq_factor,
        original_context: fields.required_positive("original_max_position_embeddings")?,
    })
}

fn yarn(fields: Fields<'_>, original_context: f64) -> Result<RotaryScaling, ModelError> {
    let factor = fields.required_positive("factor")?;
    // arXiv 2309.00071, section 3.4; `mscale` is the weight that later models give to the logarithm.
    let temperature = |mscale: f64| if factor <= 1.0 { 1.0 } else { 0.1 * mscale * factor.ln() + 1.0 };
    let attention_factor =
        match (fields.positive("attention_factor")?, fields.positive("mscale")?, fields.positive("mscale_all_dim")?) {
            (Some(given), _, _) => given,
            (None, Some(mscale), Some(all)) => temperature(mscale) / temperature(all),
            (None, _, _) => temperature(1.0),
        };
    Ok(RotaryScaling::Yarn {
        factor,
        original_context,
        beta_fast: fields.positive("beta_fast")?.unwrap_or(32.0),
        beta_slow: fields.positive("beta_slow")?.unwrap_or(1.0),
        attention_factor,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(extra: &str) -> String {
        format!(
            r#"{{"architectures":["LlamaForCausalLM"],"hidden_size":64,"num_hidden_layers":2,"vocab_size":100,
            "max_position_embeddings":128,"num_attention_heads":4,"intermediate_size":96,"hidden_act":"silu"{extra}}}"#
        )
    }

    fn read_text(text: &str) -> Result<ModelSpec, ModelError> {
        read(Path::new("dir/config.json"), text.as_bytes())
    }

    fn scaling(extra: &str) -> RotaryScaling {
        let Position::Rotary(rotary) = read_text(&config(extra)).expect("a readable configuration").position;
        rotary.scaling
    }

    #[test]
    fn absent_and_null_fields_have_the_reference_defaults() {
        let spec = read_text(&config(r#","rope_scaling":null,"head_dim":null"#)).expect("readable");
        assert_eq!((spec.attention.kv_heads, spec.attention.head_dim), (4, 16));
        assert_eq!(spec.position, Position::Rotary(Rotary { base: 10_000.0, scaling: RotaryScaling::None }));
        assert!(!spec.tied && !spec.mlp.bias && spec.eos.is_empty());
    }

    #[test]
    fn both_spellings_of_rotary_settings_mean_the_same() {
        let linear = RotaryScaling::Linear { factor: 4.0 };
        assert_eq!(scaling(r#","rope_scaling":{"type":"linear","factor":4.0}"#), linear);
        assert_eq!(scaling(r#","rope_scaling":{"rope_type":"linear","factor":4}"#), linear);
        assert_eq!(scaling(r#","rope_parameters":{"rope_type":"linear","factor":4,"rope_theta":5e5}"#), linear);
        let spec = read_text(&config(r#","rope_parameters":{"rope_type":"default","rope_theta":5e5}"#)).expect("ok");
        assert_eq!(spec.position, Position::Rotary(Rotary { base: 5e5, scaling: RotaryScaling::None }));
    }

    #[test]
    fn unusable_values_are_sentences_that_name_file_and_field() {
        let cases = [
            (config(r#","rope_scaling":{"type":"dynamic","factor":2}"#), "rope_scaling.type"),
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
        for text in ["", "[1]", "{"] {
            let message = read_text(text).expect_err("not an object").to_string();
            assert!(message.starts_with("dir/config.json: not readable as JSON"), "{message}");
        }
    }

    #[test]
    fn a_window_that_is_switched_off_is_no_window() {
        let qwen = config(r#","sliding_window":32,"use_sliding_window":false"#).replace("Llama", "Qwen2");
        assert!(read_text(&qwen).expect("readable").attention.qkv_bias);
        let message = read_text(&qwen.replace("false", "true")).expect_err("window").to_string();
        assert!(message.contains("`use_sliding_window`"), "{message}");
    }
}
