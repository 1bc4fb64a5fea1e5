"""Builds golden models: random weights, and the outputs of transformers for them.

Used by delta_nets.py and architectures.py, which list the cases. Everything runs on the CPU in float32 from fixed
seeds. The tokenizer and the prompts of a case are those of a model that is in models/ already.
"""

import json
import math
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

NEW_TOKENS = 48        # length of every greedy continuation
LONG_TAIL = 4          # logits are stored for this many last positions of the long prompt
MIN_MARGIN = 1.5e-3    # smallest accepted gap between the two best logits of a step, in standard deviations
SEEDS = 200            # so many are tried before giving up
DRAFTS = 5             # tokens that a draft model with a mask drafts in one pass
TOP = 16               # best tokens of each of its rows

MODELS = Path(__file__).parent / "models"


@dataclass
class Case:
    name: str
    source: str                # the model with the tokenizer and the prompts
    config: dict               # all that does not come with the tokenizer
    first_seed: int
    embed_std: float = 0.5     # of embeddings and head
    gain: float = 2.5          # standard deviation of a linear layer's output for unit input
    post_norm: float = 0.0     # added to the weights of norms behind a layer
    min_distinct: int = 16     # smallest accepted number of distinct tokens in a continuation
    tail: int | None = None    # logits are stored for this many last positions; None: of all but the long prompt
    measure_spread = False     # how far float64 is from float32

    @property
    def mask(self):
        """The token in the place of those that are drafted in one pass."""
        return self.config.get("pard_token")

    def full_config(self, ids):
        """The configuration of the text model. `ids`: vocab_size and the special tokens of the tokenizer."""
        return self.config | ids

    def published_config(self, config):
        """The content of config.json."""
        return config

    def initial(self, name, value):
        """The initial weights, out of normally distributed numbers."""
        raise NotImplementedError

    def dtype(self, name):
        """The type in which a tensor is stored."""
        return torch.bfloat16

    def pack(self, tensors):
        """From the library's tensors to those in the file."""
        return tensors

    def unpack(self, tensors):
        """From the tensors in the file to those the library reads."""
        return tensors


def linear(value, gain, inputs=None):
    return value * (gain / math.sqrt(inputs or value.shape[-1]))


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def write_expected(path, value):
    """As write_json, with every list of numbers on one line."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    text = re.sub(r"\[[\s\d,\-]*\]", lambda m: re.sub(r"\s+", "", m[0]).replace(",", ", "), text)
    path.write_text(text + "\n", encoding="utf-8")


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def experts_eager(model):
    if hasattr(model, "set_experts_implementation") and hasattr(model.config, "num_experts_per_tok"):
        model.set_experts_implementation("eager")
    return model.eval()


def init_weights(model, case, seed):
    """Random weights large enough for well spread logits, rounded to what is stored."""
    gen = torch.Generator().manual_seed(seed)
    scalars = [(name, b) for name, b in model.named_buffers() if name.endswith("layer_scalar")]
    for name, p in [*model.named_parameters(), *scalars]:
        value = case.initial(name, torch.randn(p.shape, generator=gen))
        p.copy_(value.to(case.dtype(name)).float())
    model.tie_weights()


def save(folder, case, model):
    tensors = {}
    with tempfile.TemporaryDirectory() as staging:
        model.save_pretrained(staging)         # the library's own names of tensors
        for path in sorted(Path(staging).glob("*.safetensors")):
            tensors |= load_file(path)
    tensors = {name: value.to(case.dtype(name)) for name, value in tensors.items()}
    tensors = {name: value.contiguous() for name, value in case.pack(tensors).items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def load(folder, case, kind, config):
    """The model of a folder, from what is in the file. `kind`: its class."""
    tensors = {name: value.float() for name, value in case.unpack(load_file(folder / "model.safetensors")).items()}
    model, info = kind.from_pretrained(
        None, config=config, state_dict=tensors, dtype=torch.float32, attn_implementation="eager",
        output_loading_info=True)
    assert not any(info.values()), info
    return experts_eager(model)


def greedy(model, ids):
    """A continuation, and the logits of its steps."""
    model.generation_config = GenerationConfig(eos_token_id=None, pad_token_id=0, do_sample=False)
    ids = torch.tensor([ids])
    out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=NEW_TOKENS, do_sample=False,
                         output_logits=True, return_dict_in_generate=True)
    return out.sequences[0, ids.shape[1]:].tolist(), torch.cat(out.logits).float()


def full_logits(model, ids):
    return model(torch.tensor([ids]), use_cache=False).logits[0].float()


def drafted(model, ids, mask):
    """The logits that draft: of the last token, and of the masks behind it."""
    rows = full_logits(model, ids + [mask] * (DRAFTS - 1))[-DRAFTS:]
    for k in range(1, DRAFTS):
        fewer = full_logits(model, ids + [mask] * (k - 1))[-k:]
        assert torch.equal(fewer.argmax(-1), rows[:k].argmax(-1)) and torch.allclose(fewer, rows[:k], atol=1e-4), k
    return rows


def margin(logits):
    top = logits.topk(2).values
    return (top[:, 0] - top[:, 1]).min().item()


def acceptable(model, case, prompts, eos):
    """No near ties, no dull repetition and no end of the text."""
    for row in prompts.values():
        tokens, steps = greedy(model, row["input_ids"])
        if margin(steps) < MIN_MARGIN * steps.std() or len(set(tokens)) < case.min_distinct or eos in tokens:
            return False
        if case.mask is not None:
            rows = drafted(model, row["input_ids"], case.mask)
            if margin(rows) < MIN_MARGIN * rows.std() or (rows.topk(TOP).indices == case.mask).any():
                return False
    return True


def outputs(model, case, tok, prompts):
    """The expected outputs: a part for JSON and tensors."""
    info, tensors = {}, {}
    for key, row in prompts.items():
        text, ids = row["text"], row["input_ids"]
        logits, (tokens, steps) = full_logits(model, ids), greedy(model, ids)
        top = torch.log_softmax(steps, -1).topk(5)
        tail = case.tail or (LONG_TAIL if key == "long" else len(ids))
        tensors[f"{key}.logits"] = logits[-tail:].clone()
        tensors[f"{key}.step_top5_ids"] = top.indices.to(torch.int32)
        tensors[f"{key}.step_top5_logprobs"] = top.values.clone()
        info[key] = {"text": text, "input_ids": ids, "greedy_ids": tokens,
                     "greedy_text": tok.decode(tokens, skip_special_tokens=True), "min_margin": round(margin(steps), 5)}
        if case.mask is not None:
            rows = drafted(model, ids, case.mask)
            best = rows.topk(TOP)
            tensors[f"{key}.draft_top_ids"] = best.indices.to(torch.int32)
            tensors[f"{key}.draft_top_logits"] = best.values.clone()
            if key == "short":
                tensors[f"{key}.draft_logits"] = rows[1:].clone()      # of the masks
            info[key]["drafts"] = rows.argmax(-1).tolist()
    return info, tensors


def spread(model, info):
    """How far the logits move in float64. The model stays in it."""
    whole = {key: row["input_ids"] + row["greedy_ids"] for key, row in info.items()}
    single = {key: full_logits(model, ids) for key, ids in whole.items()}
    model.double()
    moved = max((full_logits(model, ids) - single[key]).double().abs().max().item() for key, ids in whole.items())
    return {"logits_std": round(single["long"].std().item(), 4), "float64_vs_float32": float(f"{moved:.3g}")}


@torch.inference_mode()
def build(case):
    folder, source = MODELS / case.name, MODELS / case.source
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "tokenizer.json", folder / "tokenizer.json")
    tok = Tokenizer.from_file(str(folder / "tokenizer.json"))
    of_source = read_json(source / "config.json")
    special = {key: of_source[key] for key in ("bos_token_id", "eos_token_id", "pad_token_id")}
    text_config = case.full_config(special | {"vocab_size": of_source["vocab_size"]})
    write_json(folder / "config.json", text_config)
    config = AutoConfig.from_pretrained(folder)
    published = case.published_config(text_config)
    write_json(folder / "config.json", published)
    write_json(folder / "generation_config.json", {key: id for key, id in special.items() if id is not None})
    reference = read_json(source / "expected.json")
    prompts = reference["prompts"]
    assert all(tok.encode(row["text"]).ids == row["input_ids"] for row in prompts.values())

    model = experts_eager(AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager"))
    for seed in range(case.first_seed, case.first_seed + SEEDS):
        init_weights(model, case, seed)
        if acceptable(model, case, prompts, special["eos_token_id"]):
            break
    else:
        raise RuntimeError(f"{case.name}: no acceptable seed")
    save(folder, case, model)
    model = load(folder, case, type(model), config)
    info, tensors = outputs(model, case, tok, prompts)
    save_file(tensors, folder / "expected.safetensors")
    expected = {"seed": seed, "architecture": published["architectures"][0], "stored_dtype": "bfloat16",
                "tokenizer": reference["tokenizer"], "prompts": info,
                "hf_spread": spread(model, info) if case.measure_spread else {}}
    write_expected(folder / "expected.json", expected)
    print(f"{case.name}: seed {seed}, {expected['hf_spread']}, margins {[row['min_margin'] for row in info.values()]}, "
          f"distinct {[len(set(row['greedy_ids'])) for row in info.values()]}", flush=True)


def main(cases, build=build):
    """Builds the cases that are named as arguments, or all."""
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    unknown = set(sys.argv[1:]) - {case.name for case in cases}
    if unknown:
        sys.exit(f"no such case: {', '.join(sorted(unknown))}")
    for case in cases:
        if not sys.argv[1:] or case.name in sys.argv[1:]:
            build(case)
