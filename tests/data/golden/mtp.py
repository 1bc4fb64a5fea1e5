#!/usr/bin/env python3
"""Makes the golden models that bring a layer for drafts: that of Qwen3.5 for the prediction of several tokens.

    pip install torch transformers
    python mtp.py             # writes into models/ beside this file
    python mtp.py qwen3-5-mtp # one of them

The tensors of a model of delta_nets.py, and `mtp.*` beside them. The outputs of the model are those of that one; what
is drafted behind its texts is in draft.json and draft.safetensors, in the form of draft_heads.py. As there, the model
has read all tokens of a text but the last one.
"""

import shutil
from dataclasses import dataclass

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForCausalLM

import delta_nets
import draft_heads
import reference

DRAFTS = 4                 # the layer is run that often, on its own outputs
PUBLISHED = dict(mtp_num_hidden_layers=1, mtp_use_dedicated_embeddings=False)
BEFORE, LAYER = "mtp.", "mtp.layers.0."


class Target(draft_heads.Target):
    """The model, and a layer of its kind with full attention."""

    def __init__(self, name):
        folder = reference.MODELS / name
        case = next(case for case in delta_nets.CASES if case.name == name)
        published = reference.read_json(folder / "config.json")
        self.config = published.get("text_config", published)
        config = AutoConfig.for_model(**case.full_config(self.config))
        self.model = reference.load(folder, case, type(AutoModelForCausalLM.from_config(config)), config)
        self.prompts = reference.read_json(folder / "expected.json")["prompts"]
        self.embedding = self.model.get_input_embeddings().weight
        self.head = self.model.get_output_embeddings().weight
        self.case, self.architecture = case, published["architectures"][0]
        last = len(self.model.model.layers) - 1
        assert config.layer_types[last] == delta_nets.FULL
        self.layer = type(self.model.model.layers[last])(self.model.config, last).eval()

    def states(self, ids, _):
        """The states from which the model itself predicts: behind its last norm."""
        return self.model.model(torch.tensor([ids]), use_cache=False).last_hidden_state[0]

    def run(self, x):
        positions = torch.arange(len(x))
        later = torch.zeros(len(x), len(x)).masked_fill(positions > positions[:, None], -torch.inf)
        rotary = self.model.model.rotary_emb(x[None], positions.expand(3, 1, -1))
        return self.layer(x[None], position_embeddings=rotary, attention_mask=later[None, None])[0]


@dataclass
class Case(draft_heads.Case):
    """Row i: the embedding of token i + 1 with the state of token i."""
    first_text = 2             # there is no row for a single token

    def before(self):
        return None

    def initialized(self, target, seed):
        gen = torch.Generator().manual_seed(seed)
        hidden = target.config["hidden_size"]
        shapes = {f"{BEFORE}fc.weight": (hidden, 2 * hidden)}
        shapes |= {f"{BEFORE}{name}.weight": (hidden,)
                   for name in ("pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm")}
        shapes |= {LAYER + name: value.shape for name, value in target.layer.state_dict().items()}
        return {name: self.initial_of(target, name, torch.randn(shape, generator=gen)).bfloat16()
                for name, shape in shapes.items()}

    def initial_of(self, target, name, value):
        # The input does not drown what the layer adds to it.
        return reference.linear(value, 0.5) if name == f"{BEFORE}fc.weight" else target.case.initial(name, value)

    def draft(self, weights, target, ids, states):
        target.layer.load_state_dict({name.removeprefix(LAYER): value for name, value in weights.items()
                                      if name.startswith(LAYER)})
        norm = lambda name, x: draft_heads.norm(
            x, 1 + weights[f"{BEFORE}{name}.weight"], target.config["rms_norm_eps"])
        tokens, drafts, rows = ids[1:], [], []
        for _ in range(DRAFTS):
            embedded = norm("pre_fc_norm_embedding", target.embedding[tokens + drafts])
            both = torch.cat([embedded, norm("pre_fc_norm_hidden", states)], -1)
            last = norm("norm", target.run(both @ weights[f"{BEFORE}fc.weight"].T)[-1:])
            rows.append(last @ target.head.T)
            drafts.append(rows[-1].argmax().item())
            states = torch.cat([states, last])     # with its norm
        return drafts, torch.cat(rows), torch.arange(len(target.head))


@torch.inference_mode()
def build(case):
    folder, source, target = reference.MODELS / case.name, reference.MODELS / case.target, Target(case.target)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("tokenizer.json", "generation_config.json"):
        shutil.copyfile(source / name, folder / name)
    config = reference.read_json(source / "config.json")
    config.get("text_config", config).update(case.config)
    reference.write_json(folder / "config.json", config)
    for seed in range(case.first_seed, case.first_seed + reference.SEEDS):
        weights = case.initialized(target, seed)
        if draft_heads.acceptable(case, weights, target):
            break
    else:
        raise RuntimeError(f"{case.name}: no acceptable seed")
    others = {name: value for name, value in load_file(source / "model.safetensors").items()
              if not name.startswith(BEFORE)}
    save_file(others | weights, folder / "model.safetensors", metadata={"format": "pt"})
    weights = {name: value for name, value in load_file(folder / "model.safetensors").items()
               if name.startswith(BEFORE)}
    info, tensors, margins = {key: {"texts": []} for key in target.prompts}, {}, []
    for key, more, ids, drafts, rows, _ in draft_heads.drafted(case, weights, target):
        best = rows.topk(reference.TOP)
        info[key]["texts"].append({"length": len(ids), "drafts": drafts})
        tensors[f"{key}.{more}.top_ids"] = best.indices.to(torch.int32)
        tensors[f"{key}.{more}.top_logits"] = best.values.clone()
        margins.append(round(reference.margin(rows), 4))
    save_file(tensors, folder / "draft.safetensors")
    reference.write_expected(folder / "draft.json", {
        "seed": seed, "architecture": target.architecture, "target": case.target, "stored_dtype": "bfloat16",
        "prompts": info})
    print(f"{case.name}: seed {seed}, std {rows.std().item():.3}, margins {margins}", flush=True)


CASES = [
    Case("qwen3-5-mtp", "qwen3-5", PUBLISHED, 24000),
    # Experts, and a shared one, in the layer as well.
    Case("qwen3-5-moe-mtp", "qwen3-5-moe", PUBLISHED, 25000),
]


if __name__ == "__main__":
    reference.main(CASES, build)
