"""Changed solutions that their tests notice in plain Python, as JSON lines: `python3 mutants.py SEED COUNT FILE…`.

The functions are those of problem sets of HumanEval's form and of modules (`.py`) with examples, solved in
`solutions.py`. A change is one of a comparison, an operator, a constant, a bound, a condition, a method, a
result, or a statement that is left out. `line` is that of the check that fails in plain Python, in the text of
the tests. Functions of which the tests notice fewer than five changes are listed on standard error.
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
METHODS = {"lower": "upper", "upper": "lower", "append": "extend", "startswith": "endswith", "split": "rsplit", "keys": "values"}
SHIFTED = ("range", "len", "min", "max", "sorted", "sum", "abs", "int", "round")


def functions(paths):
    """Programs, the functions under test and their tests."""
    modules = [path for path in paths if path.endswith(".py")]
    for path in sorted(set(paths) - set(modules)):
        with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
            for row in map(json.loads, lines):
                name = row["entry_point"]
                yield name, row["prompt"] + row["canonical_solution"], f"{row['test']}\ncheck({name})\n"
    with open(os.path.join(os.path.dirname(__file__), "solutions.py")) as file:
        solutions = {node.name: ast.unparse(node) for node in ast.parse(file.read()).body if isinstance(node, ast.FunctionDef)}
    for path in modules:
        with open(path) as file:
            text = file.read()
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                examples = doctest.DocTestParser().get_examples(ast.get_docstring(node) or "")
                checks = [f"assert repr({one.source.strip()}) == {one.want.strip()!r}\n" for one in examples if not one.exc_msg]
                if checks:
                    yield node.name, solutions[node.name], "".join(checks)


def changes(tree):
    """Ways to change a tree in one place: the node, its field and what that is to hold."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
            found.append((node, "ops", [COMPARED[type(node.ops[0])]()] + node.ops[1:]))
        elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign, ast.UnaryOp)) and type(node.op) in COMPUTED:
            found.append((node, "op", COMPUTED[type(node.op)]()))
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            found.append((node, "value", not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            found += [(node, "value", node.value + step) for step in (1, -1)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 20:
            found += [(node, "value", text) for text in (node.value + "x", node.value[1:])]
        elif isinstance(node, ast.Attribute) and node.attr in METHODS:
            found.append((node, "attr", METHODS[node.attr]))
        elif isinstance(node, ast.Slice):
            found += [(node, part, None) for part in ("lower", "upper", "step") if getattr(node, part)]
        elif isinstance(node, ast.comprehension) and node.ifs:
            found.append((node, "ifs", []))
        elif isinstance(node, ast.Call):
            if getattr(node.func, "id", "") in SHIFTED:
                for at, value in enumerate(node.args):
                    shifted = ast.BinOp(value, ast.Add(), ast.Constant(1))
                    found.append((node, "args", node.args[:at] + [shifted] + node.args[at + 1:]))
            if len(node.args) > 1:
                found.append((node, "args", node.args[::-1]))
        if isinstance(node, (ast.If, ast.While, ast.IfExp)):
            found += [(node, "test", test) for test in (ast.UnaryOp(ast.Not(), node.test), ast.Constant(False))]
        if isinstance(node, (ast.For, ast.While)):
            found.append((node, "body", node.body + [ast.Break()]))
        for part in ("body", "orelse"):
            block = getattr(node, part, None)
            if isinstance(block, list) and not isinstance(node, ast.Module):
                for at, one in enumerate(block):
                    if not isinstance(one, (ast.Pass, ast.FunctionDef)) and not isinstance(getattr(one, "value", None), ast.Constant):
                        found.append((node, part, block[:at] + [ast.Pass()] + block[at + 1:]))
    return found


def other_results(tree):
    """Changes of what is returned, of the same form: even tests that notice little notice some of them."""
    results = [node for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value is not None]
    others = [ast.Constant(other) for other in (None, 0, "")] + [ast.List([], ast.Load())]
    return [(node, "value", other) for node in results for other in others + [ast.List([node.value], ast.Load())]]


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


def main(seed, count, *paths):
    choice = random.Random(int(seed))
    every = list(functions(paths))
    choice.shuffle(every)
    left = int(count)
    for name, program, tests in every:
        tree = ast.parse(program)
        possible, results = changes(tree), other_results(tree)
        choice.shuffle(possible)
        choice.shuffle(results)
        tried, taken = {ast.unparse(tree)}, 0
        for node, field, value in possible + results:
            if taken == EACH or left == 0:
                break
            before = getattr(node, field)
            setattr(node, field, value)
            mutant = ast.unparse(ast.fix_missing_locations(tree))
            setattr(node, field, before)
            if mutant in tried:
                continue
            tried.add(mutant)
            lines = {killed(mutant, tests, at) for at in (1, 2)}
            # Tests with numbers of chance may fail elsewhere the next time.
            if len(lines) == 1 and lines != {None}:
                print(json.dumps({"name": name, "program": mutant, "tests": tests, "line": lines.pop()}))
                taken += 1
                left -= 1
        if left and taken < EACH:
            print(f"the tests of {name} notice {taken} changes", file=sys.stderr)


main(*sys.argv[1:])
