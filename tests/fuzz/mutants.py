"""Changed solutions that their tests notice in plain Python, as JSON lines: `python3 mutants.py SEED COUNT PROBLEMS EXAMPLES…`.

The functions are those of a file of HumanEval's form and of modules with examples. A change is one of a comparison, an operator, a
constant, a bound or a statement that is left out. `line` is that of the check that fails in plain Python, in the text of the tests.
"""
import ast
import doctest
import gzip
import json
import os
import random
import resource
import signal
import sys
import traceback

EACH = 5
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn,
    ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult, ast.And: ast.Or, ast.Or: ast.And, ast.USub: ast.UAdd,
}


def functions(problems, modules):
    """Programs, the functions under test and their tests."""
    with gzip.open(problems, "rt") as lines:
        for row in map(json.loads, lines):
            name = row["entry_point"]
            yield name, row["prompt"] + row["canonical_solution"], f"{row['test']}\ncheck({name})\n"
    for path in modules:
        with open(path) as file:
            text = file.read()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                examples = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
                checks = [f"assert repr({one.source.strip()}) == {one.want.strip()!r}\n" for one in examples if not one.exc_msg]
                if checks:
                    yield node.name, text, "".join(checks)


def changes(tree):
    """Ways to change a tree in one place, each as a function that does."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
            found.append((node, "ops", [COMPARED[type(node.ops[0])]()] + node.ops[1:]))
        elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in COMPUTED:
            found.append((node, "op", COMPUTED[type(node.op)]()))
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            found.append((node, "value", not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            found += [(node, "value", node.value + step) for step in (1, -1)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 20:
            found.append((node, "value", node.value + "x"))
        elif isinstance(node, ast.Return) and node.value is not None:
            found.append((node, "value", ast.Constant(None)))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("range", "len", "min", "max", "sorted"):
            for at, value in enumerate(node.args):
                shifted = ast.BinOp(value, ast.Add(), ast.Constant(1))
                found.append((node, "args", node.args[:at] + [shifted] + node.args[at + 1:]))
        for part in ("body", "orelse"):
            block = getattr(node, part, None)
            if isinstance(block, list) and not isinstance(node, ast.Module):
                for at, one in enumerate(block):
                    if not isinstance(one, (ast.Pass, ast.FunctionDef)) and not isinstance(getattr(one, "value", None), ast.Constant):
                        found.append((node, part, block[:at] + [ast.Pass()] + block[at + 1:]))
    return found


def killed(program, tests, seed):
    """The line of the tests that notices it in plain Python; nothing if none does, or not in time."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        random.seed(seed)
        names = {"__name__": "tests"}
        line = None
        try:
            exec(compile(program, "program", "exec"), names)
            exec(compile(tests, "tests", "exec"), names)
        except Exception as error:
            lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "tests"]
            line = lines[-1] if lines else None
        os.write(write, json.dumps(line).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as told:
        return json.loads(told.read() or "null")


def main(seed, count, problems, *modules):
    choice = random.Random(int(seed))
    every = list(functions(problems, modules))
    choice.shuffle(every)
    left = int(count)
    for name, program, tests in every:
        tree = ast.parse(program)
        possible = changes(tree)
        choice.shuffle(possible)
        taken = 0
        for node, field, value in possible:
            if taken == EACH or left == 0:
                break
            before = getattr(node, field)
            setattr(node, field, value)
            mutant = ast.unparse(ast.fix_missing_locations(tree))
            setattr(node, field, before)
            lines = {killed(mutant, tests, at) for at in (1, 2)}
            # Tests with numbers of chance may fail elsewhere the next time.
            if len(lines) == 1 and lines != {None}:
                print(json.dumps({"name": name, "program": mutant, "tests": tests, "line": lines.pop()}))
                taken += 1
                left -= 1


main(*sys.argv[1:])
