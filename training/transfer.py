"""Measures what drafts of several tokens at once, from a main model's states alone, would be worth.

    python transfer.py --data data --main runs/main/model --out runs/transfer --kind short --batches 2800 --threads 1

`--kind` says what the drafts know:

| kind | reads | after |
|---|---|---|
| `heads` | the state behind the last block: a layer and a last matrix of its own for each draft | Medusa (Cai et al. 2024, arXiv 2401.10774) |
| `short` | the same, and the embeddings of the last three tokens, the newest of which has no state yet | Chimera (Zeng et al. 2024, arXiv 2402.15758), without its layer over the whole context |
| `hidden` | states in the middle: a matrix for each draft makes those of the places ahead, which then go through the later blocks | Hidden Transfer (Wu et al. 2024, arXiv 2404.12022) |

They are taught and measured as `head.py` does it, on the same texts; draft k of a row stands k + 1 tokens ahead of its state.
`--out` gets figures.json. The program has no drafter of this kind: README.md has the figures and says why.
"""

import argparse
import json
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

import head
from network import load, rotate

# The newest tokens that a `short` draft knows.
SHORT = 3


def main():
    a = parse()
    model, tokenizer, batches, ids = head.opened(a)
    data, out, device = Path(a.data), Path(a.out), batches.device
    made = (Hidden if a.kind == "hidden" else Heads)(model, ids, a).to(device)
    figures = head.teach(made, model, batches, tokenizer, a)
    figures["share of the main model's weights, of all drafts"] = round(made.read_per_pass(model), 3)
    figures["accepted"] = head.measure(made, model, data, tokenizer, a.steps, a.draft and load(a.draft).to(device))
    out.mkdir(parents=True, exist_ok=True)
    (out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    head.common(parser)
    parser.add_argument("--kind", required=True, choices=("heads", "short", "hidden"))
    return parser.parse_args()


class Heads(nn.Module):
    """Drafts from the state behind the last block, each with a layer and a last matrix of its own."""

    def __init__(self, main, ids, a):
        super().__init__()
        hidden, blocks = main.shape.hidden, len(main.blocks)
        self.ids, self.before = ids, [blocks]
        self.final, self.is_short = main.norm, a.kind == "short"
        self.short = nn.Linear((1 + SHORT) * hidden, hidden, bias=False) if self.is_short else None
        self.layers = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(a.steps))
        self.last = nn.ModuleList(nn.Linear(hidden, len(ids), bias=False) for _ in range(a.steps))
        with torch.no_grad():
            for layer, last in zip(self.layers, self.last):
                layer.weight.zero_(), layer.bias.zero_()
                last.weight.copy_(main.embedding.weight[ids])
            if self.is_short:
                # It begins as the state alone.
                self.short.weight.zero_()[:, :hidden].fill_diagonal_(1.0)

    def chains(self, main, tokens, states, steps):
        rows = tokens.shape[1] - steps
        x = self.final(states[:, :rows])
        if self.is_short:
            # The newest is the token behind the state's own; those before the text are the first one.
            places = [torch.arange(1 - back, rows + 1 - back).clamp(min=0) for back in range(SHORT)]
            known = [F.rms_norm(main.embedding(tokens[:, place.to(tokens.device)]), x.shape[-1:]) for place in places]
            x = self.short(torch.cat([x, *known], -1))
        for layer, last in zip(self.layers[:steps], self.last):
            yield last(x + F.silu(layer(x)))

    def read_per_pass(self, main):
        return sum(p.numel() for p in self.parameters() if p.requires_grad) / sum(p.numel() for p in main.parameters())

    def parameters_by_kind(self):
        inside = [layer.weight for layer in self.layers] + ([self.short.weight] if self.is_short else [])
        return inside, [p for p in self.parameters() if p.requires_grad and all(p is not other for other in inside)]


class Hidden(nn.Module):
    """States of the places ahead, made of one in the middle, go through the later blocks of the main model."""

    def __init__(self, main, ids, a):
        super().__init__()
        hidden = main.shape.hidden
        self.ids, self.middle = ids, len(main.blocks) // 2
        self.before = [self.middle]
        self.made = nn.ModuleList(nn.Linear(hidden, hidden) for _ in range(a.steps))
        with torch.no_grad():
            for made in self.made:
                made.bias.zero_(), made.weight.zero_().fill_diagonal_(1.0)

    def chains(self, main, tokens, states, steps):
        rows = tokens.shape[1] - steps
        own = states[:, :rows]
        streams = [own] + [made(own) for made in self.made[:steps]]
        places = torch.arange(rows, device=tokens.device)
        for block in main.blocks[self.middle :]:
            seen = []
            streams = [through(block, x, places + ahead, seen) for ahead, x in enumerate(streams)]
        for x in streams[1:]:
            yield F.linear(main.norm(x), main.embedding.weight[self.ids])

    def read_per_pass(self, main):
        """The later blocks are read for the rows of the drafts, if these take a pass of their own."""
        later = sum(p.numel() for block in main.blocks[self.middle :] for p in block.parameters())
        own = sum(p.numel() for p in self.parameters()) + len(self.ids) * main.shape.hidden
        return (later + own) / sum(p.numel() for p in main.parameters())

    def parameters_by_kind(self):
        return [made.weight for made in self.made], [made.bias for made in self.made]


def through(block, x, places, seen):
    """A block of the main model, for the rows of one time; `seen` has the keys and values of the times before."""
    batch, rows, hidden = x.shape
    h, turned = block.before_attention(x), head.angles(block.shape, places)
    q, k, v = (m(h).view(batch, rows, -1, block.shape.head_dim).transpose(1, 2) for m in (block.q, block.k, block.v))
    repeated = block.shape.heads // block.shape.kv_heads
    seen.append([each.repeat_interleave(repeated, 1) for each in (rotate(k, turned), v)])
    x = x + block.o(head.attend(rotate(q, turned), seen).transpose(1, 2).reshape(batch, rows, hidden))
    h = block.before_mlp(x)
    return x + block.down(F.silu(block.gate(h)) * block.up(h))


if __name__ == "__main__":
    main()
