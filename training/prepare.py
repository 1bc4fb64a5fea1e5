"""Makes the training text, the tokenizer, and the token arrays that `train.py` reads.

    python prepare.py --out data --exercises 300000 --keep-out problems.jsonl
    python prepare.py --out data --exercises 300000 --texts more_functions.jsonl    # further {"text": ...} rows, e.g. from permissive repositories

Everything follows from the arguments and the version of Python: the same call writes the same bytes.

Parts: generated exercises (`exercises.py`), and functions with docstrings and whole files of the standard library of the running Python (PSF-2.0). A
document that shares eight words in a row with a benchmark docstring is dropped (`contamination.py`).

Every document begins with `<|endoftext|>`, so that a model learns to stop where a function ends. Of the exercises one in ten stands directly behind
another without it, for functions that follow each other in a file. Fill-in-the-middle: 30 % of functions and files and 10 % of the exercises are
rearranged to prefix, suffix, middle (Bavarian et al. 2022), cut at line borders in half of the cases and at any character in the others.
"""

import argparse
import ast
import hashlib
import json
import random
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from contamination import Filter

END, PREFIX, SUFFIX, MIDDLE = "<|endoftext|>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"

# The split of Qwen2: digits alone, line breaks together with the punctuation before them. So the tokens of a prompt that ends with a line
# break stay the same when a solution follows; with GPT-2's split the break would merge with the indentation behind it.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# Folders of the standard library that are tests, tools or copies of other projects.
LEFT_OUT = {"test", "tests", "idlelib", "lib2to3", "turtledemo", "site-packages", "ensurepip", "_vendor", "pydoc_data", "__pycache__"}


def main():
    arguments = parse()
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    keep_out = Filter(arguments.keep_out)
    exercises = read(generate(out, arguments, "train", arguments.exercises), keep_out)
    functions, files = standard_library(keep_out)
    for path in arguments.texts:
        functions += read(path, keep_out)
    print(f"{len(exercises)} exercises, {len(functions)} functions, {len(files)} files", flush=True)
    rng = random.Random(arguments.seed)
    tokenizer = make_tokenizer(out / "tokenizer.json", arguments.vocabulary, exercises, functions, files, rng)
    for name, documents, fim in (("exercises", exercises, 0.1), ("functions", functions, 0.3), ("files", files, 0.3)):
        rng.shuffle(documents)
        held_out = documents[: len(documents) // 200] if name != "exercises" else []
        write(out / f"{name}.npy", tokenizer, documents[len(held_out) :], fim, rng, join=name == "exercises")
        if held_out:
            write(out / f"{name}_heldout.npy", tokenizer, held_out, 0.0, rng)
    held_out = read(generate(out, arguments, "heldout", 200), keep_out)
    write(out / "exercises_heldout.npy", tokenizer, held_out, 0.0, rng)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, help="folder for tokenizer.json and *.npy")
    parser.add_argument("--exercises", type=int, default=300_000, help="number of generated exercises")
    parser.add_argument("--texts", nargs="*", default=[], help="further JSON lines with a `text` each, treated like functions")
    parser.add_argument("--keep-out", nargs="*", default=[], help="problem files whose docstrings must not occur")
    parser.add_argument("--more-of", help="how many times as often as usual each task comes, as `weak.py` writes it")
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def generate(out, arguments, split, number):
    """Runs the generator; its output is kept, since it takes longest."""
    more_of = ["--more-of", arguments.more_of] if arguments.more_of and split == "train" else []
    weighted = "_" + hashlib.sha256(Path(arguments.more_of).read_bytes()).hexdigest()[:8] if more_of else ""
    path = out / f"exercises_{split}_{number}_{arguments.seed}{weighted}.jsonl"
    if not path.exists():
        here = Path(__file__).parent
        unfinished = path.with_suffix(".part")
        command = [sys.executable, here / "exercises.py", "--n", number, "--seed", arguments.seed, "--split", split]
        command += ["--exclude", here / "benchmark_ngrams.u64", "--out", unfinished, "--jobs", arguments.jobs]
        subprocess.run([str(part) for part in command + more_of], check=True)
        unfinished.rename(path)
    return path


def read(path, keep_out):
    with open(path, encoding="utf-8") as lines:
        texts = (json.loads(line)["text"].rstrip("\n") + "\n" for line in lines)
        return [text for text in texts if not keep_out.meets(text)]


def standard_library(keep_out):
    """Functions with docstrings, and files of at most 32 KiB, of the running Python's standard library, in the order of their names."""
    functions, files = [], []
    root = Path(sysconfig.get_path("stdlib"))
    for path in sorted(root.rglob("*.py")):
        if LEFT_OUT & set(path.relative_to(root).parts):
            continue
        try:
            source = path.read_text(encoding="utf-8").replace("\r\n", "\n")
            tree = ast.parse(source)
        except (UnicodeDecodeError, SyntaxError, ValueError):
            continue
        head = source[:3000]
        if any(word in head for word in ("General Public License", "Mozilla Public", "LGPL")):
            continue
        if len(source) <= 32 << 10 and not keep_out.meets(source):
            files.append(source.rstrip("\n") + "\n")
        lines = source.splitlines(keepends=True)
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node) and len(node.body) > 1:
                first = min([node.lineno] + [d.lineno for d in node.decorator_list]) - 1
                text = dedent(lines[first : node.end_lineno])
                if text and len(text) < 6000 and not keep_out.meets(text):
                    functions.append(text)
    return functions, files


def dedent(lines):
    """A function without the indentation of the class around it. Empty if a line of a string stands further left."""
    margin = len(lines[0]) - len(lines[0].lstrip(" "))
    if any(line.strip() and line[:margin].strip() for line in lines):
        return ""
    return "".join(line[margin:] if line.strip() else "\n" for line in lines).rstrip("\n") + "\n"


def make_tokenizer(path, vocabulary, exercises, functions, files, rng):
    """A byte-level BPE tokenizer, trained on 60 % exercises, 30 % functions and 10 % files (by bytes). Kept if it is there."""
    if path.exists():
        return Tokenizer.from_file(str(path))
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(SPLIT), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    budget = sum(map(len, exercises)) // 3
    sample = []
    for documents, share in ((exercises, 0.6), (functions, 0.3), (files, 0.1)):
        left = budget * share
        for text in rng.sample(documents, len(documents)):
            if left <= 0:
                break
            sample.append(text)
            left -= len(text)
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[END, PREFIX, SUFFIX, MIDDLE],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
        min_frequency=2,
    )
    tokenizer.train_from_iterator(sample, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(single=f"{END} $A", special_tokens=[(END, tokenizer.token_to_id(END))])
    tokenizer.save(str(path))
    return tokenizer


def write(path, tokenizer, documents, fim, rng, join=False):
    """Writes the tokens of all documents, one after the other, as one array of uint16."""
    end = tokenizer.token_to_id(END)
    parts = []
    for start in range(0, len(documents), 2000):
        for text in documents[start : start + 2000]:
            if rng.random() < fim:
                parts.append([end] + rearranged(tokenizer, text, rng))
            else:
                ids = tokenizer.encode(text, add_special_tokens=False).ids
                parts.append(ids if join and parts and rng.random() < 0.1 else [end] + ids)
    tokens = np.concatenate([np.array(part, dtype=np.uint16) for part in parts]) if parts else np.zeros(0, np.uint16)
    np.save(path, tokens)
    print(f"{path.name}: {len(documents)} documents, {len(tokens)} tokens", flush=True)


def rearranged(tokenizer, text, rng):
    """A document with its middle at the end."""
    if rng.random() < 0.5:
        borders = [i + 1 for i, char in enumerate(text) if char == "\n"]
    else:
        borders = range(len(text) + 1)
    first, second = sorted(rng.choices(borders, k=2)) if borders else (0, len(text))
    ids = []
    for mark, part in ((PREFIX, text[:first]), (SUFFIX, text[second:]), (MIDDLE, text[first:second])):
        ids += [tokenizer.token_to_id(mark)] + tokenizer.encode(part, add_special_tokens=False).ids
    return ids


if __name__ == "__main__":
    main()
