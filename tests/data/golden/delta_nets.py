#!/usr/bin/env python3
"""Makes the golden models with gated delta nets.

    pip install torch transformers
    python delta_nets.py            # writes into models/ beside this file
    python delta_nets.py qwen3-next # one of them
"""

import re
from dataclasses import dataclass

import torch

import reference

COMMON = dict(
    hidden_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=32, hidden_act="silu", attention_bias=False,
    max_position_embeddings=2048, rms_norm_eps=1e-6, linear_conv_kernel_dim=4)
ROPE = dict(rope_type="default", rope_theta=10000000, partial_rotary_factor=0.25)
MROPE = ROPE | dict(mrope_interleaved=True, mrope_section=[2, 1, 1])
LINEAR, FULL = "linear_attention", "full_attention"


@dataclass
class Case(reference.Case):
    around: str = ""           # the architecture for text and images in which the text model is
    measure_spread = True

    def full_config(self, ids):
        return COMMON | self.config | dict(
            vocab_size=ids["vocab_size"], eos_token_id=ids["eos_token_id"], torch_dtype="bfloat16")

    def published_config(self, config):
        if not self.around:
            return config
        text = {key: value for key, value in config.items() if key not in ("architectures", "tie_word_embeddings")}
        return dict(
            architectures=[self.around], model_type=config["model_type"].removesuffix("_text"),
            tie_word_embeddings=config["tie_word_embeddings"], text_config=text,
            vision_config=dict(depth=2, hidden_size=16))

    def dtype(self, name):
        return torch.float32 if name.endswith(("A_log", "linear_attn.norm.weight")) else torch.bfloat16

    def initial(self, name, value):
        if re.search(r"embed_tokens|lm_head.weight", name):
            return self.embed_std * value
        if name.endswith("A_log"):
            return 0.7 * value - 1.5           # a state halves within some tokens
        if name.endswith("dt_bias"):
            return 0.5 * value
        if name.endswith("linear_attn.norm.weight"):
            return 1.0 + 0.2 * value           # this norm has plain weights, all others 1 + weight
        if value.ndim == 1:
            return 0.2 * value
        if "conv1d" in name:
            return 0.6 * value
        if re.search(r"mlp.gate.weight|shared_expert_gate|in_proj_[ab]|in_proj_ba", name):
            return reference.linear(value, 1.0)
        return reference.linear(value, 1.5 if re.search(r"q_proj|k_proj", name) else self.gain)

    def pack(self, tensors):
        if self.around:
            tensors = {re.sub(r"^model\.", "model.language_model.", k): v for k, v in tensors.items()}
            fuse_experts(tensors)
            tensors["model.visual.patch_embed.proj.bias"] = torch.zeros(4).bfloat16()
        # The block for drafts and the part for images, as far as their names go.
        return tensors | {"mtp.fc.weight": torch.zeros(4, 8).bfloat16()}

    def unpack(self, tensors):
        return {k.replace("model.language_model.", "model."): v for k, v in tensors.items()
                if not re.match(r"mtp\.|model\.visual\.", k)}


def fuse_experts(stored):
    """All experts of a block as two tensors, which is how such models are published."""
    count = 1 + max(int(m[1]) for name in stored if (m := re.search(r"experts\.(\d+)\.", name)))
    for prefix in {name.split(".experts.")[0] for name in stored if ".experts." in name}:
        take = lambda e, part: stored.pop(f"{prefix}.experts.{e}.{part}.weight")
        both = [torch.cat([take(e, "gate_proj"), take(e, "up_proj")]) for e in range(count)]
        stored[f"{prefix}.experts.gate_up_proj"] = torch.stack(both)
        stored[f"{prefix}.experts.down_proj"] = torch.stack([take(e, "down_proj") for e in range(count)])


CASES = [
    # Heads of key and value of different widths, two blocks of attention, one of them the last.
    Case("qwen3-5", "qwen2", dict(
        architectures=["Qwen3_5ForCausalLM"], model_type="qwen3_5_text", intermediate_size=160, num_hidden_layers=6,
        layer_types=[LINEAR, LINEAR, FULL, LINEAR, LINEAR, FULL], linear_num_key_heads=2, linear_num_value_heads=4,
        linear_key_head_dim=16, linear_value_head_dim=24, rope_parameters=MROPE, tie_word_embeddings=True), 1),
    # As the models for text and images are published: a configuration inside of another, fused experts, tensors of
    # other parts, which are to be skipped.
    Case("qwen3-5-moe", "qwen2", dict(
        architectures=["Qwen3_5MoeForCausalLM"], model_type="qwen3_5_moe_text", num_hidden_layers=4,
        layer_types=[LINEAR, LINEAR, LINEAR, FULL], linear_num_key_heads=2, linear_num_value_heads=6,
        linear_key_head_dim=16, linear_value_head_dim=16, num_experts=8, num_experts_per_tok=3,
        moe_intermediate_size=40, shared_expert_intermediate_size=56, rope_parameters=MROPE,
        tie_word_embeddings=False), 1001, around="Qwen3_5MoeForConditionalGeneration"),
    # Query, key, value and gate in groups of heads, experts one by one, positions of the blocks not listed.
    Case("qwen3-next", "qwen2", dict(
        architectures=["Qwen3NextForCausalLM"], model_type="qwen3_next", intermediate_size=96, num_hidden_layers=4,
        full_attention_interval=2, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=24,
        linear_value_head_dim=16, num_experts=6, num_experts_per_tok=2, norm_topk_prob=True, decoder_sparse_step=1,
        mlp_only_layers=[], moe_intermediate_size=40, shared_expert_intermediate_size=40, rope_theta=10000000,
        partial_rotary_factor=0.25, rope_scaling=None, tie_word_embeddings=False), 2001),
]

if __name__ == "__main__":
    reference.main(CASES)
