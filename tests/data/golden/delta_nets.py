#!/usr/bin/env python3
"""Makes the golden models with gated delta nets: random weights, and what transformers computes with them.

    pip install torch transformers
    python delta_nets.py            # writes into models/ beside this file
    python delta_nets.py qwen3-next # one of them

Everything runs on the CPU in float32 from fixed seeds. The tokenizer and the prompts are those of models/qwen2.
"""

import json
import math
import re
import shutil
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

NEW_TOKENS = 48        # length of every greedy continuation
LONG_TAIL = 4          # logits are stored for this many last positions of the long prompt
MIN_MARGIN = 1.5e-3    # smallest accepted gap between the two best logits of a step, in standard deviations
MIN_DISTINCT = 16      # smallest accepted number of distinct tokens in a continuation

MODELS = Path(__file__).parent / "models"
TOKENIZER = MODELS / "qwen2"
EOS = "<|endoftext|>"

COMMON = dict(
    hidden_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=32, hidden_act="silu", attention_bias=False,
    max_position_embeddings=2048, rms_norm_eps=1e-6, linear_conv_kernel_dim=4)
ROPE = dict(rope_type="default", rope_theta=10000000, partial_rotary_factor=0.25)
MROPE = ROPE | dict(mrope_interleaved=True, mrope_section=[2, 1, 1])
LINEAR, FULL = "linear_attention", "full_attention"

# name: (configuration of the text model, what is written around it)
CASES = {
    # Heads of key and value of different widths, two blocks of attention, one of them the last.
    "qwen3-5": (COMMON | dict(
        architectures=["Qwen3_5ForCausalLM"], model_type="qwen3_5_text", intermediate_size=160, num_hidden_layers=6,
        layer_types=[LINEAR, LINEAR, FULL, LINEAR, LINEAR, FULL], linear_num_key_heads=2, linear_num_value_heads=4,
        linear_key_head_dim=16, linear_value_head_dim=24, rope_parameters=MROPE, tie_word_embeddings=True), None),
    # As the models for text and images are published: a configuration inside of another, fused experts, tensors of
    # other parts, which are to be skipped.
    "qwen3-5-moe": (COMMON | dict(
        architectures=["Qwen3_5MoeForCausalLM"], model_type="qwen3_5_moe_text", num_hidden_layers=4,
        layer_types=[LINEAR, LINEAR, LINEAR, FULL], linear_num_key_heads=2, linear_num_value_heads=6,
        linear_key_head_dim=16, linear_value_head_dim=16, num_experts=8, num_experts_per_tok=3,
        moe_intermediate_size=40, shared_expert_intermediate_size=56, rope_parameters=MROPE,
        tie_word_embeddings=False), "Qwen3_5MoeForConditionalGeneration"),
    # Query, key, value and gate in groups of heads, experts one by one, positions of the blocks not listed.
    "qwen3-next": (COMMON | dict(
        architectures=["Qwen3NextForCausalLM"], model_type="qwen3_next", intermediate_size=96, num_hidden_layers=4,
        full_attention_interval=2, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=24,
        linear_value_head_dim=16, num_experts=6, num_experts_per_tok=2, norm_topk_prob=True, decoder_sparse_step=1,
        mlp_only_layers=[], moe_intermediate_size=40, shared_expert_intermediate_size=40, rope_theta=10000000,
        partial_rotary_factor=0.25, rope_scaling=None, tie_word_embeddings=False), None),
}


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


@torch.no_grad()
def init_weights(model, seed):
    """Random weights large enough for well spread logits, rounded to what is stored."""
    gen = torch.Generator().manual_seed(seed)
    head = model.get_output_embeddings().weight
    for name, p in model.named_parameters():
        value = torch.randn(p.shape, generator=gen)
        if "embed_tokens" in name or p is head:
            value *= 0.5
        elif name.endswith("A_log"):
            value = 0.7 * value - 1.5          # a state halves within some tokens
        elif name.endswith("dt_bias"):
            value = 0.5 * value
        elif name.endswith("linear_attn.norm.weight"):
            value = 1.0 + 0.2 * value          # this norm has plain weights, all others 1 + weight
        elif p.ndim == 1:
            value = 0.2 * value
        elif "conv1d" in name:
            value *= 0.6
        else:
            gain = 1.5 if re.search(r"q_proj|k_proj", name) else 2.5
            if re.search(r"mlp.gate.weight|shared_expert_gate|in_proj_[ab]|in_proj_ba", name):
                gain = 1.0
            value *= gain / math.sqrt(p.shape[-1])
        keep = name.endswith("A_log") or name.endswith("linear_attn.norm.weight")
        p.copy_(value if keep else value.bfloat16().float())
    model.tie_weights()


def fuse_experts(stored):
    """All experts of a block as two tensors, which is how such models are published."""
    count = 1 + max(int(m[1]) for name in stored if (m := re.search(r"experts\.(\d+)\.", name)))
    for prefix in {name.split(".experts.")[0] for name in stored if ".experts." in name}:
        take = lambda e, part: stored.pop(f"{prefix}.experts.{e}.{part}.weight")
        both = [torch.cat([take(e, "gate_proj"), take(e, "up_proj")]) for e in range(count)]
        stored[f"{prefix}.experts.gate_up_proj"] = torch.stack(both)
        stored[f"{prefix}.experts.down_proj"] = torch.stack([take(e, "down_proj") for e in range(count)])


def save(folder, model, around):
    staging = folder / "staging"
    model.save_pretrained(staging)             # the library's own names of tensors
    tensors = {}
    for path in sorted(staging.glob("*.safetensors")):
        tensors |= load_file(path)
    shutil.rmtree(staging)
    stored = {}
    for name, value in tensors.items():
        keep = name.endswith("A_log") or name.endswith("linear_attn.norm.weight")
        if around:
            name = re.sub(r"^model\.", "model.language_model.", name)
        stored[name] = (value if keep else value.bfloat16()).contiguous()
    if around:
        fuse_experts(stored)
    # The block for drafts and the part for images, as far as their names go.
    stored["mtp.fc.weight"] = torch.zeros(4, 8).bfloat16()
    if around:
        stored["model.visual.patch_embed.proj.bias"] = torch.zeros(4).bfloat16()
    save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})


def load(folder, config):
    """The model of a folder, whatever is written around the text."""
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager").eval()
    stored = {k: v.float() for k, v in load_file(folder / "model.safetensors").items()}
    names = {k.replace("model.language_model.", "model."): v for k, v in stored.items()}
    own = model.state_dict()
    for name in own:
        if name in names:
            own[name].copy_(names[name])
        elif m := re.fullmatch(r"(.*experts)\.(gate_up_proj|down_proj)", name):
            count = own[name].shape[0]
            part = lambda e, p: names[f"{m[1]}.{e}.{p}.weight"]
            one = lambda e: part(e, "down_proj") if m[2] == "down_proj" else torch.cat(
                [part(e, "gate_proj"), part(e, "up_proj")])
            own[name].copy_(torch.stack([one(e) for e in range(count)]))
        else:
            assert name == "lm_head.weight" and config.tie_word_embeddings, name
    model.tie_weights()
    return experts_eager(model)


def experts_eager(model):
    if hasattr(model, "set_experts_implementation") and hasattr(model.config, "num_experts_per_tok"):
        model.set_experts_implementation("eager")
    return model


def greedy(model, ids, eos=None):
    model.generation_config = GenerationConfig(eos_token_id=eos, pad_token_id=0, do_sample=False)
    ids = torch.tensor([ids])
    out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=NEW_TOKENS, do_sample=False,
                         output_logits=True, return_dict_in_generate=True)
    return out.sequences[0, ids.shape[1]:].tolist(), torch.cat(out.logits).float()


def full_logits(model, ids):
    return model(torch.tensor([ids]), use_cache=False).logits[0].float()


def margin(logits):
    top = logits.topk(2).values
    return (top[:, 0] - top[:, 1]).min().item()


def acceptable(model, prompts, eos):
    for ids in prompts.values():
        tokens, steps = greedy(model, ids)
        if margin(steps) < MIN_MARGIN * steps.std() or len(set(tokens)) < MIN_DISTINCT or eos in tokens:
            return False
    return True


@torch.inference_mode()
def build(name, text, around, first_seed):
    folder = MODELS / name
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(TOKENIZER / "tokenizer.json", folder / "tokenizer.json")
    tok = Tokenizer.from_file(str(folder / "tokenizer.json"))
    eos = tok.token_to_id(EOS)
    text = text | dict(vocab_size=tok.get_vocab_size(), eos_token_id=eos, torch_dtype="bfloat16")
    write_json(folder / "config.json", text)
    config = AutoConfig.from_pretrained(folder)
    if around:
        tied = text.pop("tie_word_embeddings")
        text.pop("architectures")
        write_json(folder / "config.json", dict(
            architectures=[around], model_type=text["model_type"].removesuffix("_text"), tie_word_embeddings=tied,
            text_config=text, vision_config=dict(depth=2, hidden_size=16)))
    write_json(folder / "generation_config.json", {"eos_token_id": eos, "pad_token_id": eos})
    reference = json.loads((TOKENIZER / "expected.json").read_text(encoding="utf-8"))["prompts"]
    texts = {key: row["text"] for key, row in reference.items()}
    prompts = {key: tok.encode(text).ids for key, text in texts.items()}
    assert all(prompts[key] == reference[key]["input_ids"] for key in prompts)

    model = experts_eager(AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager").eval())
    for seed in range(first_seed, first_seed + 200):
        init_weights(model, seed)
        if acceptable(model, prompts, eos):
            break
    else:
        raise RuntimeError(f"{name}: no acceptable seed")
    save(folder, model, around)
    model = load(folder, config)
    tensors, info = {}, {}
    for key, ids in prompts.items():
        logits, (tokens, steps) = full_logits(model, ids), greedy(model, ids)
        top = torch.log_softmax(steps, -1).topk(5)
        tensors[f"{key}.logits"] = logits[-LONG_TAIL:].clone() if key == "long" else logits.clone()
        tensors[f"{key}.step_top5_ids"] = top.indices.to(torch.int32)
        tensors[f"{key}.step_top5_logprobs"] = top.values.clone()
        info[key] = {"text": texts[key], "input_ids": ids, "greedy_ids": tokens,
                     "greedy_text": tok.decode(tokens, skip_special_tokens=True), "min_margin": round(margin(steps), 5)}
    save_file(tensors, folder / "expected.safetensors")
    expected = {"seed": seed, "architecture": around or text["architectures"][0], "stored_dtype": "bfloat16",
                "tokenizer": "qwen2", "prompts": info}
    whole = {key: row["input_ids"] + row["greedy_ids"] for key, row in info.items()}
    single = {key: full_logits(model, ids) for key, ids in whole.items()}
    double = model.double()
    moved = max((full_logits(double, ids).double() - single[key].double()).abs().max().item() for key, ids in whole.items())
    expected["hf_spread"] = {"logits_std": round(single["long"].std().item(), 4), "float64_vs_float32": float(f"{moved:.3g}")}
    written = json.dumps(expected, ensure_ascii=False, indent=1)
    written = re.sub(r"\[[\s\d,\-]*\]", lambda m: re.sub(r"\s+", "", m[0]).replace(",", ", "), written)
    (folder / "expected.json").write_text(written + "\n", encoding="utf-8")
    print(f"{name}: seed {seed}, {expected['hf_spread']}, margins {[row['min_margin'] for row in info.values()]}, "
          f"distinct {[len(set(row['greedy_ids'])) for row in info.values()]}", flush=True)


def main():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for number, (name, (text, around)) in enumerate(CASES.items()):
        if not sys.argv[1:] or name in sys.argv[1:]:
            build(name, text, around, 1 + 1000 * number)


if __name__ == "__main__":
    main()
