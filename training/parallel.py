"""Teaches a draft model to propose several tokens in one pass.

    python parallel.py --data data --draft runs/draft/model --teacher runs/main/model --out runs/parallel --minutes 15
    python parallel.py --data data --draft runs/parallel/model --teacher runs/main/model --out runs/more --minutes 15  # goes on

The way is that of PARD (An et al. 2025, arXiv 2504.18583). The model gets one token more, the mask, as the last of
its vocabulary. A pass over a text and k - 1 masks behind it gives k drafts: the row of the last token the first one,
the row of each mask one more. A mask sees the text and the masks before it, at positions that go on counting; so a
plain causal pass is all that drafting needs. `pard_token` in config.json is the number of the mask.

For training the masks behind every token of a text stand in one pass: a chain of them behind token i sees the tokens
up to i and itself, and nothing of other chains. Of the second mask there are fewer chains than of the first, and so
on (conditional drop), so that a pass has about twice the rows of an ordinary one. What a row is asked for is what the
main model says at that place of the text: 0.3 of cross entropy with the token there and 0.7 of the divergence
KL(teacher || student), as in train.py; a third of the batches are texts of the main model.
"""

import argparse
import json
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F

import train
from muon import Optimizer
from network import THETA, Network, export, load, rotate

# However far the offset, so many chains reach it, for each token of a text.
LEAST = 0.15
# How many documents are gone on with to measure, and for how many tokens.
MEASURED, CONTINUED = 64, 80
END = "<|endoftext|>"


def main():
    a = parse()
    device = train.begin(a)
    out, data = Path(a.out), Path(a.data)
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(data / "tokenizer.json"))
    teacher, draft = load(a.teacher).to(device).eval(), load(a.draft).to(device)
    network = (load(a.draft) if mask_of(a.draft) is not None else with_mask(draft)).to(device)
    mix = train.MIX if device.type == "cuda" else train.MIX_CPU
    batches = train.Batches(data, mix, a.context, a.seed, device, tokenizer)
    run = Run(a, network, Optimizer(network), teacher, batches, device, None)
    run.train(tokenizer.token_to_id(END))
    export(network, tokenizer, out / "model", a.context)
    name_mask(out / "model", network.shape.vocabulary - 1)
    figures = {"parameters": sum(p.numel() for p in network.parameters()), "tokens": run.tokens, "steps": run.step, "seconds": round(run.seconds)}
    figures["held-out loss"] = train.held_out(network, data, a.context, device, tokenizer)
    figures["accepted"] = measure(draft, network, teacher, data, tokenizer, a.offsets)
    (out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder that prepare.py has written")
    parser.add_argument("--draft", required=True, help="model folder to begin with, with a mask or without")
    parser.add_argument("--teacher", required=True, help="model folder of the main model")
    parser.add_argument("--out", required=True, help="folder for the model")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--minutes", type=float)
    length.add_argument("--steps", type=int)
    parser.add_argument("--offsets", type=int, default=6, help="how many tokens a pass learns to draft")
    parser.add_argument("--keep", type=float, default=0.5, help="share of the chains that have one more mask")
    parser.add_argument("--context", type=int, default=256)
    parser.add_argument("--batch", type=int, default=0, help="texts of `context` tokens a step; 0 chooses by device")
    parser.add_argument("--decay", type=float, default=0.6, help="share of the time in which the learning rate falls")
    parser.add_argument("--rate", type=float, default=0.5, help="share of the usual learning rates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    a = parser.parse_args()
    a.batch = a.batch or (256 if torch.cuda.is_available() else 8)
    return a


def with_mask(draft):
    """The same network with one token more, which begins as the mean of the others."""
    grown = Network(replace(draft.shape, vocabulary=draft.shape.vocabulary + 1))
    state = draft.state_dict()
    embedding = state["embedding.weight"]
    grown.load_state_dict(state | {"embedding.weight": torch.cat([embedding, embedding.mean(0, keepdim=True)])})
    return grown


def mask_of(folder):
    """The mask of a model folder, if it has one."""
    return json.loads((Path(folder) / "config.json").read_text()).get("pard_token")


def name_mask(folder, mask):
    """Says in config.json which token is the mask, as published checkpoints do."""
    path = folder / "config.json"
    config = json.loads(path.read_text()) | {"spd_type": "pard", "pard_token": mask}
    path.write_text(json.dumps(config, indent=1) + "\n")


@dataclass(frozen=True)
class Layout:
    """The rows of a pass. Each knows the text up to a token and so many masks behind it, itself included; with 0 it is
    the token's own."""

    last: torch.Tensor
    masks: torch.Tensor

    @property
    def positions(self):
        return self.last + self.masks

    def sees(self):
        """Which rows `[row, other row]` attend to which others."""
        text = (self.masks == 0)[None] & (self.last[None] <= self.last[:, None])
        chain = (self.last[None] == self.last[:, None]) & (self.masks[None] <= self.masks[:, None])
        return text | chain


def layout(length, offsets, keep, device):
    """A row for each token of a text, and chains of masks behind some of them. No row stands behind the last token."""
    chosen = torch.arange(length, device=device)
    last, masks = [chosen], [torch.zeros_like(chosen)]
    for number in range(1, offsets):
        kept = round(length * max(keep**number, LEAST))
        chosen = chosen[torch.randperm(len(chosen), device=device)[:kept]]
        chosen = chosen[chosen + number < length]
        last.append(chosen)
        masks.append(torch.full_like(chosen, number))
    return Layout(torch.cat(last), torch.cat(masks))


def logits(network, tokens, rows):
    """Logits `[batch, rows, vocabulary]`. The rows are the same for all of the texts."""
    inputs = torch.where(rows.masks > 0, network.shape.vocabulary - 1, tokens[:, rows.last])
    steps = torch.arange(0, network.shape.head_dim, 2, device=tokens.device, dtype=torch.float32) / network.shape.head_dim
    angles = rows.positions.float()[:, None] * THETA**-steps[None]
    x, sees = network.embedding(inputs), rows.sees()
    for block in network.blocks:
        x = through(block, x, (angles.cos(), angles.sin()), sees)
    return F.linear(network.norm(x), network.embedding.weight.to(x.dtype))


def through(block, x, angles, sees):
    """A block of the network, with an attention that is not just causal."""
    batch, positions, hidden = x.shape
    h = block.before_attention(x)
    q, k, v = (m(h).view(batch, positions, -1, block.shape.head_dim).transpose(1, 2) for m in (block.q, block.k, block.v))
    grouped = block.shape.kv_heads != block.shape.heads
    y = F.scaled_dot_product_attention(rotate(q, angles), rotate(k, angles), v, attn_mask=sees, enable_gqa=grouped)
    x = x + block.o(y.transpose(1, 2).reshape(batch, positions, hidden))
    h = block.before_mlp(x)
    return x + block.down(F.silu(block.gate(h)) * block.up(h))


def asked(tokens, weights, rows, end):
    """The token that each row shall find, and its weight. Behind the end of a document nothing is drafted."""
    ends = (tokens == end).cumsum(1)
    inside = ends[:, rows.positions] == ends[:, rows.last]
    return tokens[:, rows.positions + 1], weights[:, rows.positions] * inside


def taught(by_teacher, given, wanted, positions):
    """The loss of each row `[batch, rows]`: what stands in the text, and what the teacher says there. The teacher has no
    mask, and gives it nothing."""
    known = F.log_softmax(by_teacher.float(), -1)
    shares = known.exp()
    own = (shares * known).sum(-1)
    given = F.log_softmax(given.float(), -1)
    divergence = own[:, positions] - (shares[:, positions] * given[..., : known.shape[-1]]).sum(-1)
    return 0.7 * divergence - 0.3 * given.gather(-1, wanted[..., None])[..., 0]


class Run(train.Run):
    """The training, all of it taught."""

    def train(self, end):
        a, begun, last_word = self.a, time.monotonic(), 0.0
        while (part := self.progress(self.step, time.monotonic() - begun)) < 1:
            scale = a.rate * min(1.0, (self.step + 1) / train.WARM_UP) * min(1.0, (1 - part) / a.decay)
            tokens, weights = self.texts_of_teacher() if self.step % 3 == 0 else self.batches.next(a.batch, 1)
            rows = layout(tokens.shape[1] - 1, a.offsets, a.keep, self.device)
            wanted, weights = asked(tokens, weights, rows, end)
            weights = weights / weights.sum()
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                with torch.no_grad():
                    by_teacher = self.teacher(tokens[:, :-1])
                given = logits(self.network, tokens, rows)
            loss = (taught(by_teacher, given, wanted, rows.positions) * weights).sum()
            loss.backward()
            self.optimizer.step(scale)
            self.step += 1
            self.tokens += tokens[:, 1:].numel()
            self.seconds = time.monotonic() - begun
            if self.seconds - last_word > 10 or self.step == 1:
                print(f"step {self.step}  {part:.3f}  loss {loss.item():.4f}  {self.tokens / self.seconds:.0f} tokens/s", flush=True)
                last_word = self.seconds


@torch.no_grad()
def measure(draft, parallel, teacher, data, tokenizer, offsets):
    """The share of drafts that are accepted up to each offset, greedy and at temperature 0.8, behind every token of
    bodies that the main model writes for held-out exercises: of the draft model that began, one token after the other,
    and of the parallel one, the same way and in one pass."""
    found = {}
    for temperature in (0.0, 0.8):
        shares = {name: torch.zeros(2, offsets) for name in ("draft", "parallel, one by one", "parallel, one pass")}
        for tokens, first, behind in written(teacher, data, tokenizer, temperature):
            tokens = tokens[None]
            length = tokens.shape[1] - 1
            by_main = teacher(tokens[:, :-1])[0]
            every = Layout(*(part.flatten() for part in torch.meshgrid(torch.arange(length), torch.arange(offsets), indexing="ij")))
            keep = every.positions < length
            every = Layout(every.last[keep].to(tokens.device), every.masks[keep].to(tokens.device))
            alone = Layout(torch.arange(length, device=tokens.device), torch.zeros(length, dtype=torch.long, device=tokens.device))
            for name, network, rows in (
                ("draft", draft, alone),
                ("parallel, one by one", parallel, alone),
                ("parallel, one pass", parallel, every),
            ):
                kept = accepted(logits(network, tokens, rows)[0], by_main[rows.positions], tokens[0, rows.positions + 1], temperature)
                table = torch.zeros(length, offsets)
                table[rows.last.cpu(), rows.masks.cpu()] = kept.cpu()
                if rows is alone:
                    # The next offset's draft is the first one behind the next token.
                    for number in range(1, offsets):
                        table[: length - number, number] = table[number:, 0]
                chains = table.cumprod(1)
                for number in range(offsets):
                    places = chains[first : behind - number, number]
                    shares[name][:, number] += torch.tensor([places.sum(), len(places)])
        found[f"temperature {temperature}"] = {name: [round(x, 3) for x in (s[0] / s[1]).tolist()] for name, s in shares.items()}
    return found


def accepted(given, main, tokens, temperature):
    """How likely a draft is kept where the main model's token is the given one: min(1, q / p) of it. The mean over texts
    of the main model is the share of drafts accepted."""
    if temperature == 0:
        return (given.argmax(-1) == tokens).float()
    q, p = (F.softmax(x.float() / temperature, -1).gather(-1, tokens[:, None])[:, 0] for x in (given, main))
    return (q / p).clamp(max=1.0)


def held_out(data, tokenizer):
    """Held-out exercises without their bodies, and the token that ends a text."""
    array = np.load(data / "exercises_heldout.npy").astype(np.int64)
    given, end = train.prompts(array, tokenizer), tokenizer.token_to_id(END)
    starts = np.flatnonzero(array == end)
    texts = []
    for start, stop in zip(starts, np.append(starts[1:], len(array))):
        inside = np.flatnonzero(given[start:stop])
        if len(inside) and inside[-1] < 160:
            texts.append(array[start : start + inside[-1] + 1])
    return texts[:MEASURED], end


def written(teacher, data, tokenizer, temperature):
    """Held-out exercises with bodies by the main model: the tokens, the place of the last given one, and that of the
    last one."""
    texts, end = held_out(data, tokenizer)
    texts = sorted(texts, key=len)
    device = next(teacher.parameters()).device
    for number in range(0, len(texts), 16):
        group = texts[number : number + 16]
        tokens = torch.full((len(group), len(group[-1]) + CONTINUED), end, device=device)
        sizes = torch.tensor([len(text) for text in group], device=device)
        for row, text in zip(tokens, group):
            row[: len(text)] = torch.from_numpy(text)
        first, going = sizes - 1, torch.arange(len(group), device=device)
        for _ in range(CONTINUED):
            ahead = teacher(tokens[going, : sizes[going].max()])[torch.arange(len(going)), sizes[going] - 1].float()
            token = torch.multinomial(F.softmax(ahead / temperature, -1), 1)[:, 0] if temperature else ahead.argmax(-1)
            tokens[going, sizes[going]] = token
            sizes[going] += 1
            going = going[token != end]
            if len(going) == 0:
                break
        for row, begin, size in zip(tokens, first.tolist(), sizes.tolist()):
            yield row[:size], begin, size - 1


if __name__ == "__main__":
    main()
