//! The settings of rotary positions.

use crate::model::ModelError;
use crate::model::arch::Architecture;
use crate::model::fields::Fields;
use crate::model::spec::{Rotary, RotaryScaling};

/// Rotary settings stand either beside all others and in `rope_scaling`, or in `rope_parameters`. With them
/// comes the number of positions up to which they hold, at most `context`.
pub fn read(
    arch: &Architecture,
    fields: Fields<'_>,
    context: usize,
    (head_dim, share): (usize, f64),
) -> Result<(Rotary, usize), ModelError> {
    let nested = match fields.object("rope_parameters", "rope_parameters.")? {
        Some(nested) => Some(nested),
        None => fields.object("rope_scaling", "rope_scaling.")?,
    };
    let inner_share = nested.map_or(Ok(None), |nested| nested.positive("partial_rotary_factor"))?;
    let share = inner_share.or(fields.positive(arch.fields.rotary_share)?).unwrap_or(share);
    let dims = (head_dim as f64 * share) as usize;
    if dims == 0 || !dims.is_multiple_of(2) || dims > head_dim {
        let expected = format!("a share that makes an even number of the {head_dim} channels of a head");
        return Err(fields.error(arch.fields.rotary_share, &expected));
    }
    let base = match fields.positive(arch.fields.rotary_base)? {
        Some(base) => base,
        None => fields.positive("rope_theta")?.unwrap_or(10_000.0),
    };
    let plain = Rotary { dims, interleaved: false, base, scaling: RotaryScaling::None };
    let Some(nested) = nested else { return Ok((plain, context)) };
    // Beyond its original context a model with LongRoPE rotates all positions otherwise, those before it
    // included.
    let original = match fields.size("original_max_position_embeddings")? {
        Some(original) => Some(original),
        None => nested.size("original_max_position_embeddings")?,
    };
    let (base, scaling) = rotary_of(nested, base, context as f64, dims, original)?;
    let longest = match scaling {
        RotaryScaling::PerFrequency { .. } => original.unwrap_or(context).min(context),
        _ => context,
    };
    Ok((Rotary { base, scaling, ..plain }, longest))
}

/// Base and scaling in `fields`. The kind of scaling is called `rope_type` or, in older files, `type`.
pub fn rotary_of(
    fields: Fields<'_>,
    base: f64,
    context: f64,
    dims: usize,
    original: Option<usize>,
) -> Result<(f64, RotaryScaling), ModelError> {
    let base = fields.positive("rope_theta")?.unwrap_or(base);
    let (kind_field, kind) = match fields.text("rope_type")? {
        Some(kind) => ("rope_type", kind),
        None => ("type", fields.text("type")?.unwrap_or("default")),
    };
    let given = fields.positive("original_max_position_embeddings")?;
    let scaling = match kind {
        // The base of "dynamic" grows with texts that are longer than the context, which is the limit here.
        "default" | "dynamic" => RotaryScaling::None,
        "linear" => RotaryScaling::Linear { factor: fields.required_positive("factor")? },
        "llama3" => llama3(fields)?,
        "yarn" => yarn(fields, given.unwrap_or(context))?,
        "proportional" => {
            let share = fields.positive("partial_rotary_factor")?.unwrap_or(1.0);
            if share > 1.0 {
                return Err(fields.error("partial_rotary_factor", "a number up to 1"));
            }
            proportional(dims, share, fields.positive("factor")?.unwrap_or(1.0))
        }
        "longrope" | "su" => longrope(fields, context, original, dims)?,
        _ => {
            let known =
                "one of \"default\", \"linear\", \"dynamic\", \"llama3\", \"yarn\", \"longrope\", \"proportional\"";
            return Err(fields.error(kind_field, known));
        }
    };
    Ok((base, scaling))
}

/// Divides the frequency of channels that are not rotated, as converters to GGUF write it.
const UNROTATED: f64 = 1e30;

/// The first channel pairs of a head are rotated as if all were (`_compute_proportional_rope_parameters` of
/// transformers).
pub fn proportional(dims: usize, share: f64, factor: f64) -> RotaryScaling {
    let rotated = (share * dims as f64 / 2.0) as usize;
    let factors = (0..dims / 2).map(|pair| if pair < rotated { factor } else { UNROTATED }).collect();
    RotaryScaling::PerFrequency { factors, attention_factor: 1.0 }
}

fn longrope(
    fields: Fields<'_>,
    context: f64,
    original: Option<usize>,
    dims: usize,
) -> Result<RotaryScaling, ModelError> {
    let Some(factors) = fields.positives("short_factor")?.filter(|factors| factors.len() == dims / 2) else {
        return Err(fields.error("short_factor", &format!("a list of {} numbers above 0", dims / 2)));
    };
    for field in ["short_mscale", "long_mscale"] {
        if fields.get(field).is_some() {
            return Err(fields.error(field, "nothing: this kind of scaling is not supported"));
        }
    }
    let (factor, original) = match (original, fields.positive("factor")?) {
        (Some(original), _) => (context / original as f64, original as f64),
        (None, factor) => (factor.unwrap_or(1.0), context),
    };
    let computed = if factor <= 1.0 { 1.0 } else { (1.0 + factor.ln() / original.ln()).sqrt() };
    let attention_factor = fields.positive("attention_factor")?.unwrap_or(computed);
    Ok(RotaryScaling::PerFrequency { factors, attention_factor })
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
        whole: fields.flag("truncate")?.unwrap_or(true),
    })
}
