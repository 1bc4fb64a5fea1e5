"""Trains a draft head that reads the states of a main model.

    python head.py --data data --main runs/main/model --out runs/head --minutes 20 --threads 1

The head is that of EAGLE-3 (Li et al. 2025, arXiv 2503.01840): one layer, which knows what the main model thought. Its row
for a token reads the token's embedding beside the main model's states of the token before, taken from the residual stream
before three of its blocks and brought to one width by a matrix; it drafts the next token. The row of a draft has the
head's own output there, since the main model has no states of it yet. The embedding is the main model's; the head's
last matrix is for the most frequent tokens only.

For training, the rows of a text go through the head `--steps` times: first with the states, then each with its own
output and one token more (the paper's training-time test). A row of a later time sees the first rows of the text up to
its beginning and those of its own chain, as in drafting. What a row is asked for is the main model's distribution there,
as a cross entropy; half of the batches are texts that the main model has written itself at temperature 0.8.

A head for the main model inside the program took 23 minutes of one core: `--batches 2800`, 2.9 M tokens. `--out` gets
config.json and model.safetensors, named as published heads are (`LlamaForCausalLMEagle3`), and figures.json: what was
accepted on bodies that the main model writes for held-out exercises.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F

import parallel
import train
from muon import Optimizer
from network import EPSILON, THETA, Norm, load, rotate

# A row counts so much for each time before it.
LATER = 0.8
# The main model writes so many texts at a time.
TOGETHER = 64


def main():
    a = parse()
    model, tokenizer, batches, ids = opened(a)
    data, out, device = Path(a.data), Path(a.out), batches.device
    head = Head(model, ids, a.before or usual(len(model.blocks)), a.ffn or model.shape.ffn).to(device)
    settle(head, model, batches.next(a.batch, 1)[0])
    figures = teach(head, model, batches, tokenizer, a)
    export(head, model, out)
    sizes = [sum(p.numel() for p in network.parameters()) for network in (head, model)]
    figures |= {"parameters": sizes[0], "share of the main model's": round(sizes[0] / sizes[1], 3)}
    figures["accepted"] = measure(head, model, data, tokenizer, a.steps, a.draft and load(a.draft).to(device))
    (out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures), flush=True)


def opened(a):
    """The main model, its tokenizer, the training text and the tokens that can be drafted."""
    device, data = train.begin(a), Path(a.data)
    tokenizer = Tokenizer.from_file(str(data / "tokenizer.json"))
    model = load(a.main).to(device).eval().requires_grad_(False)
    mix = train.MIX if device.type == "cuda" else train.MIX_CPU
    batches = train.Batches(data, mix, a.context, a.seed, device, tokenizer)
    return model, tokenizer, batches, frequent(batches, a.tokens).to(device)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    common(parser)
    parser.add_argument("--before", type=int, nargs="+", help="blocks of the main model before which its states are taken")
    parser.add_argument("--ffn", type=int, default=0, help="width of the feed-forward; that of the main model if 0")
    return parser.parse_args()


def common(parser):
    """The arguments of each training that drafts from states."""
    parser.add_argument("--data", required=True, help="folder that prepare.py has written")
    parser.add_argument("--main", required=True, help="model folder of the main model")
    parser.add_argument("--out", required=True, help="folder for what is made")
    parser.add_argument("--draft", help="model folder of a draft model, to be measured as well")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--minutes", type=float, help="with what the main model writes, without the measuring")
    length.add_argument("--batches", type=int)
    parser.add_argument("--steps", type=int, default=3, help="how many tokens a chain of the training has")
    parser.add_argument("--tokens", type=int, default=1024, help="how many tokens can be drafted")
    parser.add_argument("--texts", type=int, default=1024, help="how many texts the main model writes")
    parser.add_argument("--context", type=int, default=256)
    parser.add_argument("--batch", type=int, default=4, help="texts of `context` tokens a batch")
    parser.add_argument("--decay", type=float, default=0.6, help="share of the time in which the learning rate falls")
    parser.add_argument("--rate", type=float, default=1.5, help="share of the usual learning rates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)


def usual(blocks):
    """Early, in the middle, late; behind the last block there is no state to be had."""
    return [1, blocks // 2, blocks - 1]


def frequent(batches, number):
    """The tokens that the bodies of the training text have most often, ascending."""
    size = max(int(array.max()) for array in batches.arrays.values()) + 1
    shares = torch.zeros(size, dtype=torch.float64)
    for name, array in batches.arrays.items():
        bodies = array[~batches.prompts[name]]
        shares += batches.mix[name][1] * torch.bincount(bodies, minlength=size).cpu() / len(bodies)
    return shares.argsort(descending=True, stable=True)[:number].sort().values


class Head(nn.Module):
    """One layer, from the main model's states to logits of the tokens `ids`."""

    def __init__(self, main, ids, before, ffn):
        super().__init__()
        self.shape, self.before, self.ids = main.shape, before, ids
        hidden, width = self.shape.hidden, self.shape.kv_heads * self.shape.head_dim
        self.of_embedding, self.of_state, self.before_mlp, self.norm = (Norm(hidden) for _ in range(4))
        self.fc = nn.Linear(len(before) * hidden, hidden, bias=False)
        self.q, self.o = nn.Linear(2 * hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.k, self.v = nn.Linear(2 * hidden, width, bias=False), nn.Linear(2 * hidden, width, bias=False)
        self.gate, self.up = nn.Linear(hidden, ffn, bias=False), nn.Linear(hidden, ffn, bias=False)
        self.down, self.head = nn.Linear(ffn, hidden, bias=False), nn.Linear(hidden, len(ids), bias=False)
        for m in (self.q, self.k, self.v, self.gate, self.up):
            nn.init.normal_(m.weight, std=m.weight.shape[1] ** -0.5)
        with torch.no_grad():
            # It begins as what the last of the states says alone.
            self.fc.weight.zero_()[:, -hidden:].fill_diagonal_(1.0)
            for m in (self.o, self.down):
                m.weight.zero_()
            self.norm.weight.copy_(main.norm.weight)
            self.head.weight.copy_(main.embedding.weight[ids])

    def forward(self, embedded, state, seen):
        """The output `[batch, rows, hidden]`. `seen` has the keys and values of the times before, and gets those of this one."""
        batch, rows, hidden = state.shape
        h = torch.cat([self.of_embedding(embedded), self.of_state(state)], dim=-1)
        q, k, v = (m(h).view(batch, rows, -1, self.shape.head_dim).transpose(1, 2) for m in (self.q, self.k, self.v))
        turned = angles(self.shape, len(seen) + torch.arange(rows, device=state.device))
        q, repeated = rotate(q, turned), self.shape.heads // self.shape.kv_heads
        seen.append([x.repeat_interleave(repeated, 1) for x in (rotate(k, turned), v)])
        x = state + self.o(attend(q, seen).transpose(1, 2).reshape(batch, rows, hidden))
        h = self.before_mlp(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))

    def logits(self, output):
        return self.head(self.norm(output))

    def chains(self, main, tokens, states, steps):
        """Logits for each time. Row i of time k stands on token i + k with the states of token i, and drafts token
        i + k + 1."""
        rows = tokens.shape[1] - steps
        state, seen = self.fc(states[:, :rows]), []
        for number in range(1, steps + 1):
            state = self(main.embedding(tokens[:, number : number + rows]), state, seen)
            yield self.logits(state)

    def parameters_by_kind(self):
        """The matrices inside, and the rest."""
        inside = [m.weight for m in (self.fc, self.q, self.k, self.v, self.o, self.gate, self.up, self.down)]
        return inside, [p for p in self.parameters() if all(p is not other for other in inside)]


def angles(shape, positions):
    steps = torch.arange(0, shape.head_dim, 2, device=positions.device, dtype=torch.float32) / shape.head_dim
    turned = positions.float()[:, None] * THETA**-steps[None]
    return turned.cos(), turned.sin()


def attend(q, seen):
    """A row sees the rows of the first time up to its own, and of each later time its own alone."""
    (k, v), *later = seen
    if not later:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    rows = q.shape[2]
    hidden = torch.ones(rows, rows, dtype=torch.bool, device=q.device).triu(1)
    scores = [(q @ k.mT).masked_fill(hidden, -torch.inf)] + [(q * k).sum(-1, keepdim=True) for k, _ in later]
    shares = (torch.cat(scores, -1) * q.shape[-1] ** -0.5).softmax(-1)
    y = shares[..., :rows] @ v
    for number, (_, v) in enumerate(later):
        y = y + shares[..., rows + number, None] * v
    return y


@torch.no_grad()
def read(main, tokens, before):
    """The main model's states before some of its blocks, side by side, and its logits. Behind the last block are those
    before a block that it does not have."""
    turned = angles(main.shape, torch.arange(tokens.shape[1], device=tokens.device))
    x, inputs = main.embedding(tokens), []
    for block in main.blocks:
        inputs.append(x)
        x = block(x, turned)
    inputs.append(x)
    return torch.cat([inputs[number] for number in before], -1), F.linear(main.norm(x), main.embedding.weight)


def taught(head, main, tokens, weights, steps):
    """Cross entropy with the main model's distribution, of the tokens that the head can draft."""
    states, wanted = read(main, tokens, head.before)
    shares = wanted.float().softmax(-1)[..., head.ids]
    loss = total = 0.0
    for number, given in enumerate(head.chains(main, tokens, states, steps), 1):
        places = slice(number, number + given.shape[1])
        each = -(shares[:, places] * F.log_softmax(given.float(), -1)).sum(-1)
        scale = LATER ** (number - 1)
        loss = loss + scale * (each * weights[:, places]).sum()
        total = total + scale * weights[:, places].sum()
    return loss / total


@torch.no_grad()
def settle(head, main, tokens):
    """Makes the numbers of the head's residual stream about 1, so that its layer, which adds nothing at first, soon adds
    enough."""
    head.fc.weight /= head.fc(read(main, tokens, head.before)[0]).pow(2).mean().sqrt()


def teach(head, main, batches, tokenizer, a):
    """The training; says how long it was."""
    begun, last_word = time.monotonic(), 0.0
    own = [texts_of(main, batches, tokenizer, a.context) for _ in range(0, a.texts, TOGETHER)]
    own = [torch.cat(part) for part in zip(*own)]
    writing = time.monotonic() - begun
    print(f"the main model has written its texts in {writing:.0f} s", flush=True)
    optimizer, done, seen = Optimizer(head), 0, 0
    while (part := done / a.batches if a.batches else (time.monotonic() - begun) / (60 * a.minutes)) < 1:
        scale = a.rate * min(1.0, (done + 1) / train.WARM_UP) * min(1.0, (1 - part) / a.decay)
        if own and done % 2:
            chosen = torch.randint(len(own[0]), (a.batch,))
            tokens, weights = (each[chosen] for each in own)
        else:
            tokens, weights = batches.next(a.batch, 1)
        with torch.autocast(batches.device.type, torch.bfloat16, enabled=batches.device.type == "cuda"):
            loss = taught(head, main, tokens[:, :-1], weights, a.steps)
        loss.backward()
        optimizer.step(scale)
        done += 1
        seen += tokens[:, 1:].numel()
        seconds = time.monotonic() - begun
        if seconds - last_word > 10 or done == 1:
            print(f"batch {done}  {part:.3f}  loss {loss.item():.4f}  {seen / (seconds - writing):.0f} tokens/s", flush=True)
            last_word = seconds
    return {"batches": done, "tokens": seen, "seconds": round(time.monotonic() - begun)}


def texts_of(main, batches, tokenizer, context):
    """Texts of the training, with which the main model goes on after a third, and how much each token counts."""
    tokens = batches.next(TOGETHER, 1)[0]
    tokens[:, context // 3 :] = -1
    tokens = written(main, tokens, 0.8)
    prompts = torch.stack([torch.from_numpy(train.prompts(row.cpu().numpy(), tokenizer)) for row in tokens])
    return tokens, torch.where(prompts[:, 1:].to(tokens.device), train.PROMPT_WEIGHT, 1.0)


@torch.no_grad()
def written(main, given, temperature):
    """Token after token; where a token of `given` is below nothing, the main model writes it."""
    tokens, shape = given.clone(), main.shape
    kept = torch.zeros(shape.layers, 2, len(tokens), shape.kv_heads, tokens.shape[1], shape.head_dim, device=tokens.device)
    for place in range(tokens.shape[1] - 1):
        x, turned = main.embedding(tokens[:, place, None]), angles(shape, torch.tensor([place], device=tokens.device))
        for block, (keys, values) in zip(main.blocks, kept):
            h = block.before_attention(x)
            q, k, v = (m(h).view(len(tokens), 1, -1, shape.head_dim).transpose(1, 2) for m in (block.q, block.k, block.v))
            keys[:, :, place], values[:, :, place] = rotate(k, turned)[:, :, 0], v[:, :, 0]
            so_far = keys[:, :, : place + 1], values[:, :, : place + 1]
            y = F.scaled_dot_product_attention(rotate(q, turned), *so_far, enable_gqa=shape.kv_heads != shape.heads)
            x = x + block.o(y.transpose(1, 2).reshape(x.shape))
            h = block.before_mlp(x)
            x = x + block.down(F.silu(block.gate(h)) * block.up(h))
        ahead = F.linear(main.norm(x), main.embedding.weight)[:, 0]
        token = torch.multinomial(F.softmax(ahead / temperature, -1), 1)[:, 0] if temperature else ahead.argmax(-1)
        tokens[:, place + 1] = torch.where(tokens[:, place + 1] < 0, token, tokens[:, place + 1])
    return tokens


@torch.no_grad()
def measure(head, main, data, tokenizer, steps, draft=None):
    """The share of drafts that are accepted up to each place of a chain, greedy and at temperature 0.8, behind every
    token of bodies that the main model writes for held-out exercises; and the same for a draft model."""
    found = {}
    for temperature in (0.0, 0.8):
        shares = {name: torch.zeros(2, steps) for name in ["head"] + ["draft"] * (draft is not None)}
        for text, first in bodies(main, data, tokenizer, temperature):
            states, by_main = read(main, text[None, :-1], head.before)
            length = text.shape[0] - 1
            tables = {name: torch.zeros(length, steps) for name in shares}
            # At the end of the text chains are shorter: there are tokens behind it, which nothing sees.
            longer = F.pad(text[:-1], (0, steps))[None], F.pad(states, (0, 0, 0, steps))
            for number, given in enumerate(head.chains(main, *longer, steps), 1):
                whole = torch.full((length - number, main.shape.vocabulary), -torch.inf, device=text.device)
                whole[:, head.ids] = given[0, : length - number].float()
                places = torch.arange(number, length, device=text.device)
                kept = parallel.accepted(whole, by_main[0, places], text[places + 1], temperature)
                # The first place of a chain is that of its last given token.
                tables["head"][1 : length - number + 1, number - 1] = kept.cpu()
            if draft is not None:
                kept = parallel.accepted(draft(text[None, :-1])[0], by_main[0], text[1:], temperature).cpu()
                for number in range(steps):
                    tables["draft"][: length - number, number] = kept[number:]
            for name, table in tables.items():
                for number in range(steps):
                    places = table.cumprod(1)[first : length - number, number]
                    shares[name][:, number] += torch.tensor([places.sum(), len(places)])
        found[f"temperature {temperature}"] = {name: [round(x, 3) for x in (s[0] / s[1]).tolist()] for name, s in shares.items()}
    return found


def bodies(main, data, tokenizer, temperature):
    """Held-out exercises with bodies by the main model, and the place of the last given token."""
    texts, end = parallel.held_out(data, tokenizer)
    prompts = [torch.from_numpy(text) for text in texts]
    texts = torch.full((len(prompts), max(map(len, prompts)) + parallel.CONTINUED), -1)
    for row, prompt in zip(texts, prompts):
        row[: len(prompt)] = prompt
    for row, prompt in zip(written(main, texts.to(main.embedding.weight.device), temperature), prompts):
        size = len(prompt)
        ends = (row[size : size + parallel.CONTINUED] == end).nonzero()
        yield row[: size + (int(ends[0]) + 1 if len(ends) else parallel.CONTINUED)], size - 1


def export(head, main, folder):
    """Writes the head as published ones are, in bf16."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {"fc": head.fc, "norm": head.norm, "lm_head": head.head}
    names |= {"midlayer.input_layernorm": head.of_embedding, "midlayer.hidden_norm": head.of_state}
    names |= {"midlayer.post_attention_layernorm": head.before_mlp}
    names |= {f"midlayer.self_attn.{name}_proj": getattr(head, name) for name in ("q", "k", "v", "o")}
    names |= {f"midlayer.mlp.{name}_proj": getattr(head, name) for name in ("gate", "up", "down")}
    weights = {f"{name}.weight": m.weight.detach().to("cpu", torch.bfloat16).contiguous() for name, m in names.items()}
    shape, ids = main.shape, head.ids.cpu()
    # How far the token of a row is from its number; and which tokens have a row.
    weights["d2t"], weights["t2d"] = ids - torch.arange(len(ids)), torch.zeros(shape.vocabulary, dtype=torch.bool)
    weights["t2d"][ids] = True
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "hidden_size": shape.hidden,
        "target_hidden_size": shape.hidden,
        "intermediate_size": head.gate.weight.shape[0],
        "num_hidden_layers": 1,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "vocab_size": shape.vocabulary,
        "draft_vocab_size": len(ids),
        "max_position_embeddings": 1024,
        "rms_norm_eps": EPSILON,
        "rope_theta": THETA,
        "tie_word_embeddings": False,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": 0,
        "eos_token_id": 0,
        # A block is named by its output: the state before the next one.
        "eagle_config": {"use_aux_hidden_state": True, "eagle_aux_hidden_state_layer_ids": [number - 1 for number in head.before]},
        "torch_dtype": "bfloat16",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


if __name__ == "__main__":
    main()
