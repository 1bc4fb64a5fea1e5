//! Fields of GGUF files that change results: each is used, or refused by a sentence that names it.

use bass_tui::model::spec::{ModelSpec, RotaryScaling};
use bass_tui::model::{ModelFiles, Outline, TensorType};

use super::write::{Writer, converted};
use super::{CASES, folder, twin, written};

/// All that llama.cpp, its gguf-py and the converter of Ollama have names for, behind the name of the architecture.
const KEYS: &str = "vocab_size context_length embedding_length embedding_length_out features_length block_count \
    leading_dense_block_count feed_forward_length expert_feed_forward_length expert_shared_feed_forward_length \
    expert_chunk_feed_forward_length use_parallel_residual tensor_data_layout expert_count expert_used_count \
    expert_shared_count expert_group_count expert_group_used_count expert_weights_scale expert_weights_norm \
    expert_gating_func expert_group_scale experts_per_group moe_every_n_layers moe_latent_size nextn_predict_layers \
    n_deepstack_layers pooling_type logit_scale decoder_start_token_id decoder_block_count attn_logit_softcapping \
    router_logit_softcapping final_logit_softcapping swin_norm rescale_every_n_layers time_mix_extra_dim \
    time_decay_extra_dim residual_scale embedding_scale token_shift_count interleave_moe_layer_step \
    full_attention_interval activation_sparsity_scale altup.active_idx altup.num_inputs \
    embedding_length_per_layer_input swiglu_clamp_exp swiglu_clamp_shexp dense_2_feat_in dense_2_feat_out \
    attention.head_count attention.head_count_kv attention.max_alibi_bias attention.clamp_kqv attention.key_length \
    attention.value_length attention.layer_norm_epsilon attention.layer_norm_rms_epsilon \
    attention.group_norm_epsilon attention.group_norm_groups attention.causal attention.q_lora_rank \
    attention.kv_lora_rank attention.decay_lora_rank attention.iclr_lora_rank \
    attention.value_residual_mix_lora_rank attention.gate_lora_rank attention.relative_buckets_count \
    attention.sliding_window attention.scale attention.output_scale attention.temperature_length \
    attention.key_length_mla attention.value_length_mla attention.key_length_swa attention.value_length_swa \
    attention.shared_kv_layers attention.sliding_window_pattern attention.temperature_scale \
    attention.indexer.head_count attention.indexer.key_length attention.indexer.top_k rope.dimension_count \
    rope.dimension_count_swa rope.dimension_sections rope.freq_base rope.freq_base_swa rope.scale_linear \
    rope.scaling.type rope.scaling.factor rope.scaling.alpha rope.scaling.attn_factor \
    rope.scaling.original_context_length rope.scaling.finetuned rope.scaling.yarn_log_multiplier \
    rope.scaling.yarn_ext_factor rope.scaling.yarn_attn_factor rope.scaling.yarn_beta_fast \
    rope.scaling.yarn_beta_slow ssm.conv_kernel ssm.inner_size ssm.state_size ssm.time_step_rank ssm.group_count \
    ssm.dt_b_c_rms kda.head_dim wkv.head_size posnet.embedding_length posnet.block_count \
    convnext.embedding_length convnext.block_count classifier.output_labels shortconv.l_cache hidden_activation \
    activation.situ_beta adapters.count attention.compress_ratios attention.recurrent_layers attention.rope_pattern \
    attention.value_scale attention.output_group_count attn_res.block_size block_size classifier.pooling_type \
    conv_kernel_size deepstack_mapping expert_latent_length hash_layer_count hrm.h_cycles hyper_connection.count \
    norm_before_fc num_loops ple.layers selector_rank target_layers norm_top_k_prob ssm.v_head_reordered \
    mrope_sections rope.mrope_section rope.scaling.extrapolation_factor image_token_id image_token_index \
    spatial_merge_size vision_start_token_id vision_end_token_id vision.block_count audio.block_count \
    mm.tokens_per_image \
    not.a.name.that.anyone.knows";

/// Keys that change nothing, alone at least.
const NOTHING: &[&str] = &[
    "vocab_size", "tensor_data_layout", "rope.scaling.finetuned", "rope.scaling.original_context_length",
    "pooling_type", "decoder_start_token_id", "expert_feed_forward_length", "expert_used_count",
    "expert_shared_feed_forward_length", "ssm.conv_kernel", "ssm.inner_size", "ssm.state_size", "ssm.time_step_rank",
    "ssm.group_count", "ssm.dt_b_c_rms", "ssm.v_head_reordered", "attention.layer_norm_epsilon",
    "attention.layer_norm_rms_epsilon", "attention.group_norm_epsilon", "attention.group_norm_groups",
    "rope.dimension_sections", "rope.mrope_section", "mrope_sections", "embedding_length_out",
    "classifier.output_labels", "classifier.pooling_type", "deepstack_mapping", "n_deepstack_layers", "image_token_id",
    "image_token_index", "spatial_merge_size", "vision_start_token_id", "vision_end_token_id", "vision.block_count",
    "audio.block_count", "mm.tokens_per_image",
];

fn read(writer: &Writer) -> Result<ModelSpec, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.gguf");
    writer.write(&path);
    Outline::read(&ModelFiles::Gguf(path)).map(|outline| outline.spec).map_err(|error| error.to_string())
}

#[test]
fn every_field_is_used_or_refused_or_known_to_change_nothing() {
    for (case, architecture) in CASES {
        let file = written(case, architecture, TensorType::F32);
        let plain = read(&file).expect("readable");
        for key in KEYS.split_whitespace() {
            let name = format!("{architecture}.{key}");
            // The old name of a field counts where the new one is absent.
            let renamed = key == "rope.scale_linear" && file.has(&format!("{architecture}.rope.scaling.factor"));
            if file.has(&name) || renamed {
                continue;
            }
            let mut other = file.clone();
            other.float(&name, 3.0);
            match read(&other) {
                Ok(spec) if spec == plain => assert!(NOTHING.contains(&key), "{case}: {key} has no effect"),
                Ok(_) => {}
                // A model with experts has other tensors.
                Err(message) if key == "expert_count" => {
                    assert!(message.contains("expert") || message.contains("ffn"), "{message}");
                }
                Err(message) => assert!(message.contains(&name), "{case}, {key}: {message}"),
            }
        }
    }
}

#[test]
fn usual_values_of_fields_that_are_not_used_do_no_harm() {
    let mut file = written("qwen2", "qwen2", TensorType::F32);
    let plain = read(&file).expect("readable");
    for key in ["attention.clamp_kqv", "attention.max_alibi_bias", "final_logit_softcapping", "expert_weights_scale"] {
        file.float(&format!("qwen2.{key}"), 0.0);
    }
    file.float("qwen2.logit_scale", 1.0);
    file.flag("qwen2.attention.causal", true);
    file.flag("qwen2.norm_top_k_prob", true);
    file.whole("qwen2.attention.sliding_window", plain.context);
    assert_eq!(read(&file).expect("readable"), plain);
    file.whole("qwen2.attention.sliding_window", plain.context - 1);
    assert!(read(&file).expect_err("a window").contains("`qwen2.attention.sliding_window`"));
}

#[test]
fn fields_that_say_again_what_is_known_do_no_harm() {
    // The converter writes its default, whatever the blocks are.
    for (case, parallel) in [("stablelm", true), ("stablelm", false), ("stablelm-parallel", true)] {
        let mut file = written(case, "stablelm", TensorType::F32);
        let plain = read(&file).expect("readable");
        file.flag("stablelm.use_parallel_residual", parallel);
        assert_eq!(read(&file).expect("readable"), plain, "{case}");
    }
    // Granite 4 without Mamba layers has sizes of these and of a shared expert.
    let mut file = written("granite-hybrid", "granite", TensorType::F32);
    let plain = read(&file).expect("readable");
    let keys = ["ssm.conv_kernel", "ssm.state_size", "ssm.group_count", "ssm.inner_size", "ssm.time_step_rank"];
    for key in keys.into_iter().chain(["expert_shared_feed_forward_length"]) {
        file.whole(&format!("granite.{key}"), 48);
    }
    for key in ["expert_count", "expert_used_count"] {
        file.whole(&format!("granite.{key}"), 0);
    }
    assert_eq!(read(&file).expect("readable"), plain);
    // Queries that do not grow.
    let growth = |beta: Option<f32>| {
        let mut file = converted(&twin("ministral3"), &folder("ministral3"), "mistral3", TensorType::F32);
        if let Some(beta) = beta {
            file.float("mistral3.attention.temperature_scale", beta);
        }
        read(&file).expect("readable").blocks[0].attention.query_growth
    };
    assert_eq!((growth(None), growth(Some(0.0))), (None, None));
    assert!(growth(Some(0.5)).is_some());
    let base = |swa: f32| {
        let mut file = written("gpt-oss", "gpt-oss", TensorType::F32);
        file.float("gpt-oss.rope.freq_base_swa", swa);
        read(&file)
    };
    let plain = read(&written("gpt-oss", "gpt-oss", TensorType::F32)).expect("readable");
    let usual = plain.blocks[0].attention.rotary.as_ref().expect("rotary").base as f32;
    assert_eq!(base(usual).expect("readable"), plain);
    assert!(base(usual * 2.0).expect_err("two bases").contains("`gpt-oss.rope.freq_base_swa`"));
    for (case, architecture, tiled) in [("qwen3-5", "qwen35", true), ("qwen3-next", "qwen3next", false)] {
        let read = |reordered: bool| {
            let mut file = written(case, architecture, TensorType::F32);
            file.flag(&format!("{architecture}.ssm.v_head_reordered"), reordered);
            read(&file)
        };
        assert!(read(tiled).is_ok());
        assert!(read(!tiled).expect_err("another order").contains("ssm.v_head_reordered`"));
    }
}

#[test]
fn divisors_in_tensors_need_no_kind_of_scaling() {
    let mut file = written("llama", "llama", TensorType::F32);
    let dims = read(&file).expect("readable").blocks[0].attention.rotary.clone().expect("rotary").dims;
    file.whole("llama.rope.scaling.original_context_length", 64);
    file.float("llama.rope.scaling.attn_factor", 1.25);
    assert!(read(&file).expect_err("a factor alone").contains("`llama.rope.scaling.attn_factor`"));
    for name in ["long", "short"] {
        file.tensor(&format!("rope_factors_{name}.weight"), &[dims / 2], &vec![2.0; dims / 2], TensorType::F32);
    }
    let spec = read(&file).expect("readable");
    let rotary = spec.blocks[0].attention.rotary.clone().expect("rotary");
    assert_eq!(rotary.scaling, RotaryScaling::PerFrequency { factors: vec![2.0; dims / 2], attention_factor: 1.25 });
    assert_eq!(spec.context, 64);
}

#[test]
fn scaling_of_positions_is_what_the_file_means() {
    let file = written("llama", "llama", TensorType::F32);
    let scaling = |fields: &[(&str, f32)], kind: Option<&str>| {
        let mut file = file.clone();
        for (name, value) in fields {
            file.float(&format!("llama.rope.{name}"), *value);
        }
        if let Some(kind) = kind {
            file.text("llama.rope.scaling.type", kind);
        }
        read(&file).map(|spec| spec.blocks[0].attention.rotary.clone().expect("rotary").scaling)
    };
    let linear = Ok(RotaryScaling::Linear { factor: 4.0 });
    assert_eq!(scaling(&[("scaling.factor", 4.0)], None), linear, "a factor without a kind");
    assert_eq!(scaling(&[("scale_linear", 4.0)], None), linear, "the old name");
    assert_eq!(scaling(&[("scale_linear", 2.0), ("scaling.factor", 4.0)], Some("linear")), linear);
    assert_eq!(scaling(&[("scaling.factor", 4.0)], Some("none")), Ok(RotaryScaling::None));
    assert_eq!(scaling(&[("scaling.factor", 1.0)], None), Ok(RotaryScaling::None));
    assert_eq!(scaling(&[("scale_linear", 0.0)], Some("linear")), Ok(RotaryScaling::None));
    let yarn = |more: &[(&str, f32)]| {
        let fields = [&[("scaling.factor", 4.0)], more].concat();
        match scaling(&fields, Some("yarn")).expect("readable") {
            RotaryScaling::Yarn { beta_fast, beta_slow, attention_factor, .. } => {
                (beta_fast, beta_slow, attention_factor)
            }
            other => panic!("{other:?}"),
        }
    };
    let whole = 0.1 * 4f64.ln() + 1.0;
    assert_eq!(yarn(&[]), (32.0, 1.0, whole));
    let other = yarn(&[("scaling.yarn_beta_fast", 16.0), ("scaling.yarn_beta_slow", 2.0)]);
    assert_eq!(other, (16.0, 2.0, whole));
    assert_eq!(yarn(&[("scaling.attn_factor", 0.5)]), (32.0, 1.0, whole / 2.0));
    assert_eq!(yarn(&[("scaling.yarn_attn_factor", 0.5)]), (32.0, 1.0, whole / 2.0));
    assert_eq!(yarn(&[("scaling.yarn_log_multiplier", 1.0)]), (32.0, 1.0, 1.0));
    let refused = |fields: &[(&str, f32)], kind: Option<&str>, named: &str| {
        let message = scaling(fields, kind).expect_err(named);
        assert!(message.contains(&format!("`llama.rope.{named}`")), "{message}");
    };
    refused(&[("scaling.factor", 4.0), ("scaling.yarn_ext_factor", 0.5)], Some("yarn"), "scaling.yarn_ext_factor");
    refused(&[("scaling.attn_factor", 0.5)], None, "scaling.attn_factor");
    refused(&[], Some("yarn"), "scaling.factor");
    refused(&[("scaling.factor", 2.0)], Some("longrope"), "scaling.factor");
    refused(&[], Some("klingon"), "scaling.type");
}

#[test]
fn widths_of_keys_and_values_must_be_the_same() {
    let mut file = written("llama", "llama", TensorType::F32);
    file.whole("llama.attention.key_length", 24);
    file.whole("llama.attention.value_length", 12);
    assert!(read(&file).expect_err("two widths").contains("`llama.attention.value_length`"));
}
