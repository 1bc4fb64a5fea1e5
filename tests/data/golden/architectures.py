#!/usr/bin/env python3
"""Makes the golden models of other architectures.

    pip install torch transformers
    python architectures.py         # writes into models/ beside this file
    python architectures.py gpt-oss # one of them
"""

import re

import torch

import reference

COMMON = dict(
    hidden_size=32, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
    hidden_act="silu", max_position_embeddings=2048, rms_norm_eps=1e-5, tie_word_embeddings=False)
SLIDING, FULL = "sliding_attention", "full_attention"


class Case(reference.Case):
    def full_config(self, ids):
        return self.config | ids | dict(torch_dtype="bfloat16", use_cache=True, transformers_version="4.44.0")

    def initial(self, name, value):
        if re.search(r"embed_tokens|lm_head.weight", name):
            return self.embed_std * value
        if name.endswith("bias"):
            return 0.2 * value
        if name.endswith("sinks"):
            return 1.5 * value
        if name.endswith("layer_scalar"):
            return 0.9 + 0.1 * value
        if value.ndim == 1:
            return 1.0 + 0.2 * value + (self.post_norm if "post_" in name else 0.0)
        return reference.linear(value, 1.5 if re.search(r"q_proj|k_proj", name) else self.gain)


# The numbers of four bits.
MXFP4 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0])


def to_mxfp4(rows):
    """Rows in blocks of 32: two codes in a byte, and the exponent of every block plus 127."""
    blocks = rows.unflatten(-1, (-1, 32))
    exponents = torch.floor(torch.log2(blocks.abs().amax(-1).clamp(min=1e-8))) - 2
    scaled = blocks / torch.exp2(exponents)[..., None]
    codes = (scaled[..., None] - MXFP4).abs().argmin(-1).to(torch.uint8)
    return codes[..., 0::2] | codes[..., 1::2] << 4, (exponents + 127).to(torch.uint8)


def from_mxfp4(codes, scales):
    codes = torch.stack([codes & 15, codes >> 4], -1).flatten(-2).long()
    return (MXFP4[codes] * torch.exp2(scales.float() - 127)[..., None]).flatten(-2)


class GptOss(Case):
    """Experts in four bits, as published."""

    def initial(self, name, value):
        if name.endswith("_proj") and "experts" in name:
            rows = reference.linear(value, self.gain, value.shape[-2]).mT.contiguous()
            return from_mxfp4(*to_mxfp4(rows)).mT
        return super().initial(name, value)

    def published_config(self, config):
        kept = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]
        return config | dict(quantization_config=dict(modules_to_not_convert=kept, quant_method="mxfp4"))

    def pack(self, tensors):
        stored = {}
        for name, value in tensors.items():
            if name.endswith(("experts.gate_up_proj", "experts.down_proj")):
                rows = value.float().mT.contiguous()
                stored[f"{name}_blocks"], stored[f"{name}_scales"] = to_mxfp4(rows)
                assert torch.equal(from_mxfp4(stored[f"{name}_blocks"], stored[f"{name}_scales"]), rows), name
            else:
                stored[name] = value
        return stored

    def unpack(self, tensors):
        plain = {k: v for k, v in tensors.items() if not k.endswith(("_blocks", "_scales"))}
        for name, codes in tensors.items():
            if name.endswith("_blocks"):
                name = name.removesuffix("_blocks")
                plain[name] = from_mxfp4(codes, tensors[f"{name}_scales"]).mT.contiguous()
        return plain


def gemma4(**kw):
    common = {key: value for key, value in COMMON.items() if key != "hidden_act"}
    return common | dict(
        architectures=["Gemma4ForCausalLM"], model_type="gemma4_text", head_dim=16, global_head_dim=32,
        num_global_key_value_heads=1, attention_k_eq_v=True, hidden_activation="gelu_pytorch_tanh", rms_norm_eps=1e-6,
        hidden_size_per_layer_input=0, num_kv_shared_layers=0, num_hidden_layers=4,
        layer_types=[SLIDING, SLIDING, FULL, FULL], sliding_window=24, final_logit_softcapping=30.0,
        tie_word_embeddings=True, attention_bias=False, enable_moe_block=False, use_double_wide_mlp=False,
        use_bidirectional_attention=None, vocab_size_per_layer_input=2048, rope_parameters=dict(
            full_attention=dict(rope_type="proportional", partial_rotary_factor=0.25, rope_theta=1000000.0),
            sliding_attention=dict(rope_type="default", rope_theta=10000.0))) | kw


CASES = [
    Case("ministral3", "qwen2", COMMON | dict(
        architectures=["Ministral3ForCausalLM"], model_type="ministral3", head_dim=16, sliding_window=None,
        rope_parameters=dict(
            rope_type="yarn", type="yarn", rope_theta=10000.0, factor=16.0, beta_fast=8.0, beta_slow=1.0, mscale=1.0,
            mscale_all_dim=1.0, llama_4_scaling_beta=0.5, original_max_position_embeddings=64)), 7000),
    Case("smollm3", "qwen2", COMMON | dict(
        architectures=["SmolLM3ForCausalLM"], model_type="smollm3", num_hidden_layers=4, rope_theta=5000000.0,
        rope_scaling=None, no_rope_layers=[1, 1, 1, 0], no_rope_layer_interval=4, use_sliding_window=False,
        sliding_window=None, layer_types=[FULL] * 4, max_window_layers=28, attention_bias=False, mlp_bias=False,
        attention_dropout=0.0, tie_word_embeddings=True), 8000),
    Case("stablelm", "gpt-neox", COMMON | dict(
        architectures=["StableLmForCausalLM"], model_type="stablelm", num_attention_heads=2, layer_norm_eps=1e-5,
        partial_rotary_factor=0.25, rope_theta=10000.0, rope_scaling=None, use_qkv_bias=True, qk_layernorm=False,
        use_parallel_residual=False), 9000),
    Case("stablelm-parallel", "gpt-neox", COMMON | dict(
        architectures=["StableLmForCausalLM"], model_type="stablelm", num_attention_heads=2, layer_norm_eps=1e-5,
        partial_rotary_factor=0.5, rope_theta=10000.0, rope_scaling=None, use_qkv_bias=False, qk_layernorm=False,
        use_parallel_residual=True), 10000),
    Case("phi-qk-norm", "codegen", dict(
        architectures=["PhiForCausalLM"], model_type="phi", hidden_size=32, intermediate_size=96, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, hidden_act="gelu_new", max_position_embeddings=2048,
        layer_norm_eps=1e-5, rope_theta=10000.0, rope_scaling=None, partial_rotary_factor=0.5, qk_layernorm=True,
        tie_word_embeddings=False), 11000, gain=4.0, min_distinct=10),
    # No Mamba layers, no experts.
    Case("granite-hybrid", "starcoder2", COMMON | dict(
        architectures=["GraniteMoeHybridForCausalLM"], model_type="granitemoehybrid", intermediate_size=80,
        shared_intermediate_size=96, num_local_experts=0, num_experts_per_tok=0, position_embedding_type="rope",
        layer_types=["attention"] * 3, attention_bias=False, rope_theta=10000.0, rope_scaling=None,
        embedding_multiplier=6.0, residual_multiplier=0.6, attention_multiplier=0.2, logits_scaling=3.0,
        mamba_n_heads=4, mamba_n_groups=1, mamba_d_state=16, mamba_d_head=16, mamba_d_conv=4, mamba_expand=2,
        mamba_chunk_size=16, mamba_conv_bias=True, mamba_proj_bias=False, tie_word_embeddings=True), 12000,
        embed_std=0.3, gain=6.0),
    Case("mellum", "qwen2", COMMON | dict(
        architectures=["MellumForCausalLM"], model_type="mellum", head_dim=16, num_hidden_layers=4,
        layer_types=[SLIDING, SLIDING, SLIDING, FULL], mlp_layer_types=["sparse"] * 4, sliding_window=24,
        num_experts=6, num_experts_per_tok=2, moe_intermediate_size=24, norm_topk_prob=True, attention_bias=False,
        rms_norm_eps=1e-6, rope_parameters=dict(
            full_attention=dict(rope_type="yarn", rope_theta=500000.0, factor=16.0, beta_fast=32.0, beta_slow=1.0,
                                original_max_position_embeddings=128),
            sliding_attention=dict(rope_type="default", rope_theta=10000.0))), 13000),
    # Keys as values, and fewer of them, in the full layers.
    Case("gemma4", "gemma", gemma4(), 14000, embed_std=0.3, gain=2.0, post_norm=3.0),
    # Inputs of every layer, and the last layers with the keys and values of earlier ones.
    Case("gemma4-e", "gemma", gemma4(
        num_hidden_layers=6, layer_types=[SLIDING, FULL] * 3, num_kv_shared_layers=2, hidden_size_per_layer_input=8,
        attention_k_eq_v=False, num_global_key_value_heads=None, use_double_wide_mlp=True), 15000,
        embed_std=0.3, gain=2.0),
    Case("gemma4-moe", "gemma", gemma4(
        enable_moe_block=True, num_experts=6, top_k_experts=2, moe_intermediate_size=24), 16000,
        embed_std=0.3, gain=2.0, post_norm=3.0),
    GptOss("gpt-oss", "qwen2", COMMON | dict(
        hidden_size=64, architectures=["GptOssForCausalLM"], model_type="gpt_oss", head_dim=16, num_hidden_layers=4,
        intermediate_size=32, num_local_experts=4, num_experts_per_tok=2, sliding_window=24, attention_bias=True,
        layer_types=[SLIDING, FULL] * 2, swiglu_limit=7.0, rope_theta=150000.0, rope_scaling=dict(
            rope_type="yarn", factor=32.0, beta_fast=32.0, beta_slow=1.0, truncate=False,
            original_max_position_embeddings=64), initial_context_length=64, experts_per_token=2), 17000, gain=4.0),
    # A draft model that drafts several tokens in one pass.
    Case("qwen2-parallel", "qwen2", COMMON | dict(
        architectures=["Qwen2ForCausalLM"], model_type="qwen2", intermediate_size=64, num_hidden_layers=2,
        rope_theta=1000000.0, use_sliding_window=False, sliding_window=32, max_window_layers=2, rms_norm_eps=1e-6,
        tie_word_embeddings=True, spd_type="pard", pard_token=2045), 18000, tail=1),
]

if __name__ == "__main__":
    reference.main(CASES)
