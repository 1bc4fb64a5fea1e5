"""Makes the training text, the tokenizer, and the token arrays that `train.py` reads.

    python prepare.py --out data --exercises 300000 --keep-out problems.jsonl
    python prepare.py --out data --exercises 300000 --texts more_functions.jsonl    # further {"text": ...} rows, e.g. from permissive repositories

Everything follows from the arguments and the version of Python: the same call writes the same bytes.

Parts: generated exercises (`exercises.py`), and functions with docstrings and whole files of the standard library of the running Python (PSF-2.0) and of
the folders after `--code`. A document that shares eight words in a row with a benchmark docstring is dropped (`contamination.py`).

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
from itertools import islice
from multiprocessing import Pool
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
    jobs = arguments.jobs
    exercises = read(generate(out, arguments, "train", arguments.exercises), keep_out, jobs)
    functions, files = code([sysconfig.get_path("stdlib"), *arguments.code], keep_out, jobs)
    for path in arguments.texts:
        functions += read(path, keep_out, jobs)
    print(f"{len(exercises)} exercises, {len(functions)} functions, {len(files)} files", flush=True)
    rng = random.Random(arguments.seed)
    tokenizer = make_tokenizer(out / "tokenizer.json", arguments.vocabulary, exercises, functions, files, rng)
    for name, documents, fim in (("exercises", exercises, 0.1), ("functions", functions, 0.3), ("files", files, 0.3)):
        rng.shuffle(documents)
        held_out = documents[: len(documents) // 200] if name != "exercises" else []
        write(out / f"{name}.npy", tokenizer, documents[len(held_out) :], fim, arguments, join=name == "exercises")
        if held_out:
            write(out / f"{name}_heldout.npy", tokenizer, held_out, 0.0, arguments)
    held_out = read(generate(out, arguments, "heldout", 200), keep_out, jobs)
    write(out / "exercises_heldout.npy", tokenizer, held_out, 0.0, arguments)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, help="folder for tokenizer.json and *.npy")
    parser.add_argument("--exercises", type=int, default=300_000, help="number of generated exercises")
    parser.add_argument("--texts", nargs="*", default=[], help="further JSON lines with a `text` each, treated like functions")
    parser.add_argument("--code", nargs="*", default=[], help="folders of Python code beside the standard library, of permissive licences")
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


def read(path, keep_out, jobs):
    """The texts of a file of JSON lines, but for those that meet a benchmark."""
    with open(path, encoding="utf-8") as lines, Pool(jobs, keep, (kept, keep_out)) as pool:
        return [text for part in pool.imap(kept, pieces(lines)) for text in part]


# A process's first argument, which is too large to go with each piece of its work.
HELD = {}


def keep(function, value):
    HELD[function] = value


def kept(lines):
    texts = (json.loads(line)["text"].rstrip("\n") + "\n" for line in lines)
    return [text for text in texts if not HELD[kept].meets(text)]


def pieces(items, size=2000):
    """Lists of so many of the items, in their order: what one process takes at a time."""
    items = iter(items)
    while piece := list(islice(items, size)):
        yield piece


def code(roots, keep_out, jobs):
    """Functions with docstrings, and files of at most 32 KiB, of folders of Python code, in the order of their names."""
    inside = ((path, LEFT_OUT & set(path.relative_to(root).parts)) for root in roots for path in sorted(Path(root).rglob("*.py")))
    paths = (path for path, left_out in inside if not left_out)
    functions, files = [], []
    with Pool(jobs, keep, (read_code, keep_out)) as pool:
        for some, whole in pool.imap(read_code, paths, 16):
            functions += some
            files += whole
    return functions, files


def read_code(path):
    """The functions of a file and, in a list, the file; nothing of what has another licence than its folder."""
    meets = HELD[read_code].meets
    try:
        source = path.read_text(encoding="utf-8").replace("\r\n", "\n")
        tree = ast.parse(source)
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError):
        return [], []
    head = source[:3000]
    if any(word in head for word in ("General Public License", "Mozilla Public", "LGPL")):
        return [], []
    files = [source.rstrip("\n") + "\n"] if len(source) <= 32 << 10 and not meets(source) else []
    functions = []
    lines = source.splitlines(keepends=True)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and ast.get_docstring(node) and len(node.body) > 1:
            first = min([node.lineno] + [d.lineno for d in node.decorator_list]) - 1
            text = dedent(lines[first : node.end_lineno])
            if text and len(text) < 6000 and not meets(text):
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


def write(path, tokenizer, documents, fim, arguments, join=False):
    """Writes the tokens of all documents, one after the other, as one array of uint16."""
    work = ((piece, fim, join, f"{arguments.seed}:{path.name}:{number}") for number, piece in enumerate(pieces(documents)))
    with Pool(arguments.jobs, keep, (tokens_of, tokenizer)) as pool:
        parts = list(pool.imap(tokens_of, work))
    tokens = np.concatenate(parts) if parts else np.zeros(0, np.uint16)
    np.save(path, tokens)
    print(f"{path.name}: {len(documents)} documents, {len(tokens)} tokens", flush=True)


def tokens_of(work):
    """The tokens of a piece of the documents; its random choices follow from its place, whoever takes it."""
    documents, fim, join, seed = work
    tokenizer, rng = HELD[tokens_of], random.Random(seed)
    end = tokenizer.token_to_id(END)
    tokens = []
    for text in documents:
        if rng.random() < fim:
            tokens += [end] + rearranged(tokenizer, text, rng)
        else:
            beside = join and tokens and rng.random() < 0.1
            tokens += ([] if beside else [end]) + tokenizer.encode(text, add_special_tokens=False).ids
    return np.array(tokens, dtype=np.uint16)


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
