#!/usr/bin/env python3
"""Makes the golden draft heads: small models that draft from the states of a target model.

    pip install torch transformers
    python draft_heads.py              # writes into models/ beside this file
    python draft_heads.py qwen3-dflash # one of them

A head drafts behind texts of its target's prompts. As in a real run, the target has read all tokens but the last one,
so there are states of all but that one. Everything runs on the CPU in float32 with weights rounded to bfloat16.
"""

import re
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

import reference

CONTINUED = (0, 3, 10)     # a text is a prompt and so many tokens of its greedy continuation
MIN_DISTINCT = 3           # smallest accepted number of distinct drafts behind a text
SLIDING, FULL = "sliding_attention", "full_attention"


class Target:
    """The model for which drafts are made."""

    def __init__(self, name):
        folder = reference.MODELS / name
        self.model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager").eval()
        self.config = reference.read_json(folder / "config.json")
        self.prompts = reference.read_json(folder / "expected.json")["prompts"]
        self.embedding = self.model.get_input_embeddings().weight
        self.head = self.model.get_output_embeddings().weight

    def states(self, ids, layers):
        """The residual stream before each of these layers, side by side."""
        if not ids:
            return torch.zeros(0, len(layers) * self.config["hidden_size"])
        out = self.model(torch.tensor([ids]), use_cache=False, output_hidden_states=True)
        return torch.cat([out.hidden_states[layer][0] for layer in layers], -1)


def norm(x, weight, eps):
    return weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def rotate(x, positions, theta):
    """Rotary positions for [heads, rows, width]: a number turns with the one half a head away."""
    half = x.shape[-1] // 2
    angles = positions[:, None] * theta ** -(torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def attend(q, k, v, visible):
    """[heads, rows, width] to [rows, heads * width]. `visible`: which key a row sees."""
    k, v = (x.repeat_interleave(q.shape[0] // x.shape[0], 0) for x in (k, v))
    scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~visible, -torch.inf)
    return (scores.softmax(-1) @ v).transpose(0, 1).flatten(1)


@dataclass
class Case:
    name: str
    target: str
    config: dict
    first_seed: int
    gain: float = 2.5          # standard deviation of a linear layer's output for unit input
    first_text = 1             # length of the shortest text

    @property
    def layer(self):
        """The part of the configuration with the sizes of a layer."""
        return self.config

    @property
    def theta(self):
        return self.layer.get("rope_theta") or self.layer["rope_parameters"]["rope_theta"]

    def before(self):
        """The layers of the target before which its states are taken."""
        raise NotImplementedError

    def shapes(self):
        """Tensors with random content."""
        raise NotImplementedError

    def extra(self, target, gen):
        """Tensors with other content."""
        return {}

    def draft(self, weights, target, ids, states):
        """The drafts, and the logits of their rows as values and token ids of the target."""
        raise NotImplementedError

    def layer_shapes(self, prefix, inputs):
        c = self.layer
        hidden, inner, width = c["hidden_size"], c["intermediate_size"], c["head_dim"]
        q, kv = c["num_attention_heads"] * width, c["num_key_value_heads"] * width
        return {f"{prefix}.{name}.weight": shape for name, shape in {
            "self_attn.q_proj": (q, inputs), "self_attn.k_proj": (kv, inputs), "self_attn.v_proj": (kv, inputs),
            "self_attn.o_proj": (hidden, q), "mlp.gate_proj": (inner, hidden), "mlp.up_proj": (inner, hidden),
            "mlp.down_proj": (hidden, inner), "input_layernorm": (hidden,), "post_attention_layernorm": (hidden,),
        }.items()}

    def initial(self, name, value):
        if value.ndim == 1:
            return (2.0 if re.search("q_norm|k_norm", name) else 1.0) + 0.2 * value
        return reference.linear(value, 1.5 if re.search("q_proj|k_proj", name) else self.gain)

    def initialized(self, target, seed):
        gen = torch.Generator().manual_seed(seed)
        weights = {name: self.initial(name, torch.randn(shape, generator=gen)).bfloat16()
                   for name, shape in self.shapes().items()}
        return weights | self.extra(target, gen)

    def heads(self, x):
        return x.unflatten(-1, (-1, self.layer["head_dim"])).transpose(0, 1)

    def norm(self, weights, name, x):
        return norm(x, weights[f"{name}.weight"], self.layer["rms_norm_eps"])

    def mlp(self, weights, prefix, x):
        x = self.norm(weights, f"{prefix}.post_attention_layernorm", x)
        gate, up, down = (weights[f"{prefix}.mlp.{part}_proj.weight"] for part in ("gate", "up", "down"))
        return (F.silu(x @ gate.T) * (x @ up.T)) @ down.T


class Eagle3(Case):
    """One layer, run token by token. Row i: the embedding of token i + 1 with the state of token i."""
    first_text = 2             # there is no row for a single token

    @property
    def layer(self):
        return self.config.get("transformer_layer_config", self.config)

    @property
    def prefix(self):
        return "layers.0" if self.layer is not self.config else "midlayer"

    def before(self):
        if "eagle_config" in self.config:      # these are the layers behind which states are taken
            return [layer + 1 for layer in self.config["eagle_config"]["eagle_aux_hidden_state_layer_ids"]]
        return self.config["eagle_aux_hidden_state_layer_ids"]

    def shapes(self):
        hidden = self.layer["hidden_size"]
        return self.layer_shapes(self.prefix, 2 * hidden) | {
            f"{self.prefix}.hidden_norm.weight": (hidden,), "fc.weight": (hidden, len(self.before()) * hidden),
            "norm.weight": (hidden,), "lm_head.weight": (self.config["draft_vocab_size"], hidden)}

    def initial(self, name, value):
        # The state does not drown what the layer adds to it.
        return reference.linear(value, 0.5) if name == "fc.weight" else super().initial(name, value)

    def extra(self, target, gen):
        size, drafted = len(target.embedding), self.config["draft_vocab_size"]
        kept = torch.randperm(size, generator=gen)[:drafted].sort().values
        tensors = {"d2t": kept - torch.arange(drafted), "t2d": torch.zeros(size, dtype=torch.bool)}
        tensors["t2d"][kept] = True
        if self.layer is not self.config:
            tensors["embed_tokens.weight"] = target.embedding.bfloat16()
        return tensors

    def run(self, weights, embedded, state):
        prefix, positions = self.prefix, torch.arange(len(state))
        normed = self.norm(weights, f"{prefix}.hidden_norm", state)
        both = torch.cat([self.norm(weights, f"{prefix}.input_layernorm", embedded), normed], -1)
        q, k, v = (self.heads(both @ weights[f"{prefix}.self_attn.{part}_proj.weight"].T) for part in "qkv")
        q, k = rotate(q, positions, self.theta), rotate(k, positions, self.theta)
        mixed = attend(q, k, v, positions <= positions[:, None])
        x = normed if self.config.get("norm_before_residual") else state
        x = x + mixed @ weights[f"{prefix}.self_attn.o_proj.weight"].T
        return x + self.mlp(weights, prefix, x)

    def draft(self, weights, target, ids, states):
        embedding = weights.get("embed_tokens.weight", target.embedding)
        kept = weights["d2t"] + torch.arange(len(weights["d2t"]))
        tokens, drafts, rows = ids[1:], [], []
        state = states @ weights["fc.weight"].T
        for _ in range(reference.DRAFTS):
            last = self.run(weights, embedding[tokens + drafts], state)[-1:]
            rows.append(self.norm(weights, "norm", last) @ weights["lm_head.weight"].T)
            drafts.append(kept[rows[-1].argmax()].item())
            state = torch.cat([state, last])   # without its norm, and not through fc
        return drafts, torch.cat(rows), kept


class DFlash(Case):
    """A block of the last token and of masks, drafted in one pass. Every row but the first drafts its own place."""

    @property
    def mask(self):
        return self.config["dflash_config"]["mask_token_id"]

    def before(self):
        return [layer + 1 for layer in self.config["dflash_config"]["target_layer_ids"]]

    def shapes(self):
        hidden, width = self.config["hidden_size"], self.config["head_dim"]
        shapes = {"fc.weight": (hidden, len(self.before()) * hidden), "hidden_norm.weight": (hidden,),
                  "norm.weight": (hidden,)}
        for i in range(self.config["num_hidden_layers"]):
            shapes |= self.layer_shapes(f"layers.{i}", hidden)
            shapes |= {f"layers.{i}.self_attn.{part}_norm.weight": (width,) for part in "qk"}
        return shapes

    def run(self, weights, i, x, context):
        """One layer. Keys and values of the text come from its states, in every layer from the same ones."""
        prefix, positions = f"layers.{i}", torch.arange(len(context) + len(x))
        normed = self.norm(weights, f"{prefix}.input_layernorm", x)
        seen = torch.cat([context, normed])
        q, k, v = (self.heads(rows @ weights[f"{prefix}.self_attn.{part}_proj.weight"].T)
                   for part, rows in (("q", normed), ("k", seen), ("v", seen)))
        of_q = positions[len(context):]
        q = rotate(self.norm(weights, f"{prefix}.self_attn.q_norm", q), of_q, self.theta)
        k = rotate(self.norm(weights, f"{prefix}.self_attn.k_norm", k), positions, self.theta)
        back = of_q[:, None] - positions       # how far behind a row a key is
        visible = torch.ones_like(back, dtype=torch.bool)
        if self.config["layer_types"][i] == SLIDING:
            visible = (back >= 0) & (back < self.config["sliding_window"])
        x = x + attend(q, k, v, visible) @ weights[f"{prefix}.self_attn.o_proj.weight"].T
        return x + self.mlp(weights, prefix, x)

    def draft(self, weights, target, ids, states):
        size = self.config.get("block_size") or self.config["dflash_config"]["block_size"]
        context = self.norm(weights, "hidden_norm", states @ weights["fc.weight"].T)
        x = target.embedding[[ids[-1]] + [self.mask] * (size - 1)]
        for i in range(self.config["num_hidden_layers"]):
            x = self.run(weights, i, x, context)
        rows = self.norm(weights, "norm", x[1:]) @ target.head.T
        return rows.argmax(-1).tolist(), rows, torch.arange(len(target.head))


def drafted(case, weights, target):
    """What is drafted behind every text."""
    weights = {name: value.float() if value.is_floating_point() else value for name, value in weights.items()}
    for key, row in target.prompts.items():
        whole = row["input_ids"] + row["greedy_ids"][:max(CONTINUED)]
        states = target.states(whole[:-1], case.before())
        for more in CONTINUED:
            ids = whole[:len(row["input_ids"]) + more]
            if len(ids) >= case.first_text:
                yield key, more, ids, *case.draft(weights, target, ids, states[:len(ids) - 1])


def acceptable(case, weights, target):
    """No near ties, no dull repetition, no end of the text and no masks."""
    never = torch.tensor([target.config["eos_token_id"], getattr(case, "mask", -1)])
    for _, _, _, drafts, rows, kept in drafted(case, weights, target):
        if (reference.margin(rows) < reference.MIN_MARGIN * rows.std() or len(set(drafts)) < MIN_DISTINCT
                or torch.isin(kept[rows.topk(reference.TOP).indices], never).any()):
            return False
    return True


@torch.inference_mode()
def build(case):
    folder, target = reference.MODELS / case.name, Target(case.target)
    folder.mkdir(parents=True, exist_ok=True)
    reference.write_json(folder / "config.json", case.config)
    for seed in range(case.first_seed, case.first_seed + reference.SEEDS):
        weights = case.initialized(target, seed)
        if acceptable(case, weights, target):
            break
    else:
        raise RuntimeError(f"{case.name}: no acceptable seed")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    info, tensors, margins = {key: {"texts": []} for key in target.prompts}, {}, []
    for key, more, ids, drafts, rows, kept in drafted(case, load_file(folder / "model.safetensors"), target):
        best = rows.topk(reference.TOP)
        info[key]["texts"].append({"length": len(ids), "drafts": drafts})
        tensors[f"{key}.{more}.top_ids"] = kept[best.indices].to(torch.int32)
        tensors[f"{key}.{more}.top_logits"] = best.values.clone()
        margins.append(round(reference.margin(rows), 4))
    save_file(tensors, folder / "expected.safetensors")
    reference.write_expected(folder / "expected.json", {
        "seed": seed, "architecture": case.config["architectures"][0], "target": case.target,
        "stored_dtype": "bfloat16", "prompts": info})
    print(f"{case.name}: seed {seed}, std {rows.std().item():.3}, margins {margins}", flush=True)


LAYER = dict(
    hidden_size=64, hidden_act="silu", attention_bias=False, attention_dropout=0.0, max_position_embeddings=2048,
    vocab_size=2048)
FLASH = LAYER | dict(
    architectures=["DFlashDraftModel"], model_type="qwen3", auto_map=dict(AutoModel="dflash.DFlashDraftModel"),
    num_hidden_layers=2, num_target_layers=3, max_window_layers=2, intermediate_size=96, num_attention_heads=4,
    num_key_value_heads=2, head_dim=16, rms_norm_eps=1e-6, bos_token_id=None, eos_token_id=2039, pad_token_id=2039,
    dtype="bfloat16", use_cache=True)

CASES = [
    # As SpecForge and AngelSlim publish it, with the embedding of the target.
    Eagle3("qwen3-eagle3", "qwen3", LAYER | dict(
        architectures=["LlamaForCausalLMEagle3"], model_type="llama", num_hidden_layers=1, intermediate_size=112,
        num_attention_heads=4, num_key_value_heads=2, head_dim=32, rms_norm_eps=1e-6, rope_theta=1000000,
        rope_scaling=None, mlp_bias=False, pretraining_tp=1, tie_word_embeddings=False, bos_token_id=None,
        eos_token_id=2039, pad_token_id=2039, draft_vocab_size=512, torch_dtype="bfloat16", use_cache=True,
        eagle_config=dict(use_aux_hidden_state=True, eagle_aux_hidden_state_layer_ids=[0, 1, 1])), 20000),
    # As "speculators" are published: a configuration inside of another, an own embedding, the normed state goes on.
    Eagle3("llama3-eagle3", "llama3", dict(
        architectures=["Eagle3Speculator"], speculators_model_type="eagle3", speculators_version="0.3.0",
        draft_vocab_size=512, norm_before_residual=True, target_hidden_size=None, tie_word_embeddings=False,
        eagle_aux_hidden_state_layer_ids=[0, 1, 1], has_no_defaults_at_init=False, torch_dtype="bfloat16",
        speculators_config=dict(
            algorithm="eagle3", default_proposal_method="greedy",
            proposal_methods=[dict(accept_tolerance=0.0, proposal_type="greedy", speculative_tokens=5,
                                   verifier_accept_k=1)],
            verifier=dict(architectures=["LlamaForCausalLM"], name_or_path="llama3")),
        transformer_layer_config=LAYER | dict(
            vocab_size=4096,
            model_type="llama", num_hidden_layers=1, intermediate_size=144, num_attention_heads=4,
            num_key_value_heads=1, head_dim=32, rms_norm_eps=1e-5, rope_theta=10000.0, rope_scaling=None,
            mlp_bias=False, pretraining_tp=1, use_cache=True)), 21000),
    DFlash("qwen3-dflash", "qwen3", FLASH | dict(
        block_size=8, dflash_config=dict(mask_token_id=2045, target_layer_ids=[0, 1]), layer_types=[FULL, FULL],
        rope_theta=10000, rope_scaling=None, sliding_window=None, use_sliding_window=False,
        tie_word_embeddings=True), 22000),
    # As newer ones are published: the size of the block and the rotary base inside of others.
    DFlash("qwen3-dflash-sliding", "qwen3", FLASH | dict(
        dflash_config=dict(block_size=8, mask_token_id=2045, target_layer_ids=[0, 1]), layer_types=[SLIDING, FULL],
        rope_parameters=dict(rope_theta=10000, rope_type="default"), sliding_window=24, use_sliding_window=True,
        tie_word_embeddings=False), 23000),
]


if __name__ == "__main__":
    reference.main(CASES, build)
