"""Trains a network on the arrays of `prepare.py`, for a given number of minutes.

    python train.py --data data --out runs/main --shape main --minutes 20
    python train.py --data data --out runs/main --minutes 20 --resume                # goes on where the last run stopped
    python train.py --data data --out runs/draft --shape draft --minutes 8 --teacher runs/main/model
    python train.py --data data --out runs/main --minutes 8 --resume --average runs/other --rate 0.25 --decay 1        # two runs from one beginning, as one

The schedule follows the clock, not the number of steps: warm-up for 100 steps, then constant, then a linear fall to nothing over the last `--decay` of the time
(Hu et al. 2024, WSD). Runs that are to be continued end with `--decay 0`; the last one falls. A checkpoint with everything needed to go on is written every five minutes and at
the end, a model folder in Hugging Face layout at the end; Ctrl-C, or a SIGTERM, ends a stretch early.

With `--teacher` the loss is 0.3 of the usual cross entropy and 0.7 of the divergence KL(teacher || student) over the whole vocabulary, in the last 60 % of the time (all of it when a run is resumed), and a third of the batches
are then completions which the teacher has written itself at temperature 0.8: what a draft model will be asked about.

What stands before the body of an exercise, its name, description and examples, counts a quarter in the loss: most of that is arbitrary, and the noise of it would hide
what the bodies have to teach. A model is asked for bodies.

The seed decides weights and batches; how many steps fit into the time does not follow from it, so `--steps` instead of `--minutes` repeats a run exactly (on one kind of device).
"""

import argparse
import json
import math
import signal
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch.nn import functional as F

from muon import Optimizer
from network import SHAPES, Network, describe, export, load

# Share of each part in a batch: at first, and while the learning rate falls.
MIX = {"exercises": (0.80, 0.86), "functions": (0.10, 0.11), "files": (0.10, 0.03)}
MIX_CPU = {"exercises": (0.94, 0.97), "functions": (0.06, 0.03), "files": (0.0, 0.0)}
WARM_UP = 100
# How much a token counts that stands before the body of an exercise.
PROMPT_WEIGHT = 0.25
SAVE_EVERY = 300.0


def begin(a):
    """Seeds the draws; the device, with as many threads as were asked for."""
    torch.manual_seed(a.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cpu" and a.threads:
        torch.set_num_threads(a.threads)
    return device


def main():
    a = parse()
    device = begin(a)
    torch.set_float32_matmul_precision("high")
    out = Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(Path(a.data) / "tokenizer.json"))
    state = torch.load(out / "checkpoint.pt", map_location=device, weights_only=False) if a.resume else None
    network = Network(SHAPES[a.shape], a.seed).to(device)
    if state and state["shape"] != describe(network):
        raise SystemExit(f"{out}/checkpoint.pt has another shape: {state['shape']}, asked for {describe(network)}; give its --shape")
    if state:
        others = [torch.load(Path(folder) / "checkpoint.pt", map_location=device, weights_only=False) for folder in a.average]
        network.load_state_dict(averaged([state["network"]] + [other["network"] for other in others]))
    optimizer = Optimizer(network)
    if state:
        optimizer.load_state_dict(state["optimizer"])
    teacher = load(a.teacher).to(device).eval() if a.teacher else None
    # A stretch that goes on must not see the batches of the one before again.
    seed = (a.seed, state["step"] if state else 0)
    batches = Batches(Path(a.data), MIX if device.type == "cuda" else MIX_CPU, a.context, seed, device, tokenizer)
    run = Run(a, network, optimizer, teacher, batches, device, state)
    run.train(lambda: save(out / "checkpoint.pt", network, optimizer, run))
    save(out / "checkpoint.pt", network, optimizer, run)
    export(network, tokenizer, out / "model", a.context)
    figures = {"parameters": sum(p.numel() for p in network.parameters()), "tokens": run.tokens, "steps": run.step, "seconds": round(run.seconds)}
    figures["held-out loss"] = held_out(network, Path(a.data), a.context, device, tokenizer)
    (out / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures), flush=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True, help="folder that prepare.py has written")
    parser.add_argument("--out", required=True, help="folder for checkpoint and model")
    parser.add_argument("--shape", choices=SHAPES, default="main")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--minutes", type=float)
    length.add_argument("--steps", type=int)
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--batch", type=int, default=0, help="texts of `context` tokens a step; 0 chooses by device")
    parser.add_argument("--decay", type=float, default=0.3, help="share of the time in which the learning rate falls")
    parser.add_argument("--rate", type=float, default=1.0, help="share of the usual learning rates; less to settle weights that are good already")
    parser.add_argument("--teacher", help="model folder to learn from")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--average", nargs="*", default=[], help="folders of runs from the same beginning: --resume goes on from the mean of their weights and its own")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0)
    a = parser.parse_args()
    if a.average and not a.resume:
        parser.error("--average goes with --resume: it is the mean of the checkpoint in --out and of others")
    a.batch = a.batch or (256 if torch.cuda.is_available() else 8)
    return a


def averaged(weights):
    """The mean of the weights of networks that were one for the longest time (model soups, Wortsman et al. 2022)."""
    return {name: torch.stack([each[name].float() for each in weights]).mean(0).to(first.dtype) for name, first in weights[0].items()}


class Batches:
    """Texts of `context + 1` tokens from random places of the parts, and how much each token counts."""

    def __init__(self, folder, mix, context, seed, device, tokenizer):
        arrays = {name: np.load(folder / f"{name}.npy") for name in mix}
        arrays = {name: array for name, array in arrays.items() if len(array) > context + 1}
        # One array on the device: no loader could keep up with it.
        self.arrays = {n: torch.from_numpy(x.astype(np.int32)).to(device) for n, x in arrays.items()}
        self.prompts = {n: torch.from_numpy(prompts(x, tokenizer) & (n == "exercises")).to(device) for n, x in arrays.items()}
        self.mix, self.context, self.device = mix, context, device
        self.random = np.random.default_rng(seed)

    def next(self, size, falling):
        """`[size, context + 1]` tokens and, for all but the first of each row, their weights `[size, context]`."""
        shares = np.array([self.mix[name][falling] for name in self.arrays])
        counts = self.random.multinomial(size, shares / shares.sum())
        rows, before_body = [], []
        for name, count in zip(self.arrays, counts):
            starts = torch.from_numpy(self.random.integers(0, len(self.arrays[name]) - self.context - 1, count)).to(self.device)
            places = starts[:, None] + torch.arange(self.context + 1, device=self.device)
            rows.append(self.arrays[name][places])
            before_body.append(self.prompts[name][places])
        weights = torch.where(torch.cat(before_body)[:, 1:], PROMPT_WEIGHT, 1.0)
        return torch.cat(rows).long(), weights


def prompts(tokens, tokenizer):
    """Which tokens of an array stand before the end of their document's docstring. A document without one has none."""
    vocabulary = tokenizer.get_vocab()
    quotes = np.isin(tokens, [number for text, number in vocabulary.items() if '"""' in text])
    so_far = np.cumsum(quotes)
    ends_here = tokens == vocabulary["<|endoftext|>"]
    starts = np.flatnonzero(ends_here)
    if len(starts) == 0:
        return np.zeros(len(tokens), bool)
    document = np.searchsorted(starts, np.arange(len(tokens)), "right") - 1
    before = np.where(document < 0, 0, (so_far - quotes)[starts[document]])
    ends = np.append(starts[1:], len(tokens)) - 1
    has_docstring = so_far[ends[document]] - before >= 2
    # The second quotation mark ends it, and is itself given. The mark between documents tells a model to stop: no part of a prompt.
    return has_docstring & (so_far - quotes - before < 2) & (document >= 0) & ~ends_here


class Run:
    """One stretch of training."""

    def __init__(self, a, network, optimizer, teacher, batches, device, state):
        self.a, self.network, self.optimizer, self.teacher = a, network, optimizer, teacher
        self.batches, self.device = batches, device
        self.step, self.tokens, self.seconds = (state["step"], state["tokens"], state["seconds"]) if state else (0, 0, 0.0)
        self.own_texts, self.asked = [], 0

    def progress(self, steps, seconds):
        """How far this stretch is, from 0 to 1."""
        return steps / self.a.steps if self.a.steps else seconds / (60 * self.a.minutes)

    def train(self, save):
        # A draft model is too small, and its texts of too many lengths, for compiling to pay.
        forward = torch.compile(self.network) if self.device.type == "cuda" and not self.teacher else self.network
        begun = last_save = last_word = time.monotonic()
        before, steps, mean = self.seconds, 0, None
        stopped = []
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.append(True))
        while not stopped and (part := self.progress(steps, time.monotonic() - begun)) < 1:
            falling = part > 1 - self.a.decay
            scale = self.a.rate * min(1.0, (steps + 1) / WARM_UP) * ((1 - part) / self.a.decay if falling else 1.0)
            taught = self.teacher is not None and (part > 0.4 or self.a.resume)
            tokens, weights = self.texts_of_teacher() if taught and steps % 3 == 0 else self.batches.next(self.a.batch, int(falling))
            weights = (weights / weights.sum()).flatten()
            with torch.autocast(self.device.type, torch.bfloat16):
                logits = forward(tokens[:, :-1])
                loss = (F.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten(), reduction="none") * weights).sum()
                total = loss
                if taught:
                    with torch.no_grad():
                        wanted = self.teacher(tokens[:, :-1])
                    total = 0.3 * loss + 0.7 * divergence(wanted, logits, weights)
            total.backward()
            self.optimizer.step(scale)
            steps, self.step = steps + 1, self.step + 1
            self.tokens += tokens[:, 1:].numel()
            now = time.monotonic()
            self.seconds = before + now - begun
            if now - last_word > 10 or steps == 1:
                mean = loss.item() if mean is None else 0.7 * mean + 0.3 * loss.item()
                print(f"step {self.step}  {part:.3f}  loss {mean:.4f}  {self.tokens / self.seconds:.0f} tokens/s", flush=True)
                last_word = now
            if not math.isfinite(mean or 0.0):
                raise SystemExit("the loss is no number any more; the last checkpoint is from before")
            if now - last_save > SAVE_EVERY:
                save()
                last_save = now

    @torch.no_grad()
    def texts_of_teacher(self):
        """Documents that the teacher goes on with from their first third, at temperature 0.8. Writing them costs far more than learning from them, so that they are used several times."""
        # A processor writes slower, in comparison.
        fresh_every, kept = (8, 6) if self.device.type == "cuda" else (16, 12)
        if self.asked % fresh_every == 0:
            size = min(self.a.batch, 64)
            length = min(self.a.context + 1, 192 if self.device.type == "cuda" else 128)
            tokens = self.batches.next(size, 1)[0][:, : length // 3]
            for _ in range(length - tokens.shape[1]):
                with torch.autocast(self.device.type, torch.bfloat16):
                    logits = self.teacher(tokens)[:, -1].float()
                tokens = torch.cat([tokens, torch.multinomial(torch.softmax(logits / 0.8, -1), 1)], dim=1)
            self.own_texts = [*self.own_texts, tokens][-kept:]
        self.asked += 1
        tokens = self.own_texts[self.asked % len(self.own_texts)]
        return tokens, torch.ones_like(tokens[:, 1:], dtype=torch.float32)


def divergence(wanted, given, weights):
    """KL(wanted || given) over the whole vocabulary, positions weighted."""
    wanted = F.log_softmax(wanted.float().flatten(0, 1), -1)
    given = F.log_softmax(given.float().flatten(0, 1), -1)
    return (F.kl_div(given, wanted, reduction="none", log_target=True).sum(-1) * weights).sum()


@torch.no_grad()
def held_out(network, folder, context, device, tokenizer):
    """Nats per token on texts that no training has seen, by part, and of the exercises' bodies alone."""
    losses = {}
    for name in ("exercises", "functions", "files"):
        path = folder / f"{name}_heldout.npy"
        array = np.load(path).astype(np.int64) if path.exists() else np.zeros(0, np.int64)
        rows = (len(array) - 1) // context
        if rows < 1:
            continue
        tokens, bodies = torch.from_numpy(array).to(device), torch.from_numpy(~prompts(array, tokenizer)).to(device)
        each = []
        for row in range(rows):
            text = tokens[row * context : (row + 1) * context + 1]
            each.append(F.cross_entropy(network(text[None, :-1])[0].float(), text[1:], reduction="none"))
        each = torch.cat(each)
        losses[name] = round(each.mean().item(), 4)
        if name == "exercises":
            losses["bodies"] = round(each[bodies[1 : len(each) + 1]].mean().item(), 4)
    return losses


def save(path, network, optimizer, run):
    """Writes a checkpoint whole or not at all."""
    state = {"shape": describe(network), "network": network.state_dict(), "optimizer": optimizer.state_dict()}
    state |= {"step": run.step, "tokens": run.tokens, "seconds": run.seconds}
    torch.save(state, path.with_suffix(".part"))
    path.with_suffix(".part").rename(path)


if __name__ == "__main__":
    main()
