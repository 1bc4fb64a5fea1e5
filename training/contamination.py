"""Keeps the text of public benchmarks out of the training text.

`benchmark_ngrams.u64` holds 64-bit hashes of all sequences of eight words in the docstrings of HumanEval and MBPP (and of whole short docstrings),
no text. Further problem files can be added by name; a text that shares one hash is dropped.
"""

import ast
import gzip
import json
from pathlib import Path

from exercises import gram_hashes, h64, load_exclude, words

BUILT_IN = Path(__file__).with_name("benchmark_ngrams.u64")


def hashes_of(docstring):
    """The hashes that stand for one docstring."""
    whole = words(docstring)
    return gram_hashes(docstring) | ({h64(" ".join(whole))} if whole else set())


def of_problems(path):
    """The hashes of all docstrings in a problem file (HumanEval's keys, JSON lines, possibly compressed)."""
    opened = gzip.open(path, "rt", encoding="utf-8") if str(path).endswith(".gz") else open(path, encoding="utf-8")
    found = set()
    with opened as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            row = json.loads(line)
            text = row.get("prompt") or row.get("text")
            if text is None:
                raise SystemExit(f"{path}, line {number}: no `prompt` and no `text`; a problem file has one of them")
            for docstring in docstrings(text) or [text]:
                found |= hashes_of(docstring)
    return found


def docstrings(source):
    """The docstrings of a piece of code that may end in the middle, as prompts do; without their examples."""
    for attempt in (source, source + "    pass\n"):
        try:
            tree = ast.parse(attempt)
        except SyntaxError:
            continue
        nodes = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module))]
        return [d.split(">>>")[0] for d in map(ast.get_docstring, nodes) if d]
    return []


class Filter:
    """What must not be in the training text."""

    def __init__(self, problem_files=()):
        self.hashes = set(load_exclude(BUILT_IN))
        for path in problem_files:
            self.hashes |= of_problems(path)

    def meets(self, text):
        """Whether a text shares eight words in a row, or a whole docstring, with a benchmark."""
        return bool(hashes_of(text) & self.hashes) or any(hashes_of(d) & self.hashes for d in docstrings(text))
