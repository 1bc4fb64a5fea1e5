# Runs tests on a program that nobody has read. Gets one JSON object on descriptor 3 and answers with one on descriptor 4.
#
# Whatever it needs is bound to local names before the program under test is loaded, and the tests are loaded after it, so that
# the program cannot replace them by being there first. Code that aims at this interpreter from within can still reach
# everything in it: the verdict is proof against mistakes and everyday cheats, not against an attack on the driver.


def main():
    import ast
    import builtins
    import doctest
    import io
    import json
    import os
    import reprlib
    import sys
    import threading
    import traceback
    import types
    import unittest

    exit_now, write, dumps = os._exit, os.write, json.dumps

    with os.fdopen(3, "rb") as pipe:
        task = json.loads(pipe.read())
    record_fd = os.dup(4)
    os.close(4)
    nonce = task["nonce"]
    program_name = "<candidate>"
    checks = [0]

    def report(status, message):
        line = dumps({"nonce": nonce, "status": status, "message": message[:2000], "checks": checks[0]}) + "\n"
        sys.__stdout__.flush()
        write(record_fd, line.encode())
        exit_now(0)

    class Failed(BaseException):
        """A check failed, or the program interfered: (status, message)."""

    # ---- values ---------------------------------------------------------------------------------------------------

    plain_types = (int, float, complex, bool, str, bytes, bytearray, type(None), list, tuple, dict, set, frozenset, range)
    dunders = (
        "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __len__ __contains__ __repr__ __str__ __hash__ __abs__ "
        "__sub__ __rsub__ __add__ __radd__ __mul__ __rmul__ __truediv__ __round__ __float__ __int__ __index__ "
        "__iter__ __getitem__ __getattribute__ __getattr__ __instancecheck__ __class__"
    ).split()

    def written_by_program(function):
        code = getattr(function, "__code__", None)
        return code is not None and (code.co_filename == program_name or not os.path.isabs(code.co_filename))

    def forged(value, depth=0):
        """The name of a class inside `value` that answers comparisons in the program's own way, if there is one.

        Classes at the top level of the program are the user's own types; those made inside functions are not."""
        kind = type(value)
        if kind in (list, tuple, set, frozenset) and depth < 20:
            return next((f for f in map(lambda v: forged(v, depth + 1), list(value)[:10000]) if f), None)
        if kind is dict and depth < 20:
            items = [x for pair in list(value.items())[:10000] for x in pair]
            return next((f for f in map(lambda v: forged(v, depth + 1), items) if f), None)
        if kind in plain_types:
            return None
        own = [c for c in type.mro(kind) if any(written_by_program(vars(c).get(d)) for d in dunders)]
        meta = type(kind) is not type and any(written_by_program(vars(type(kind)).get(d)) for d in dunders)
        for c in own:
            if "<locals>" in c.__qualname__ or candidate.__dict__.get(c.__name__) is not c or issubclass(c, (int, float, str)):
                return str(kind.__name__)
        return str(kind.__name__) if meta else None

    def is_plain(value):
        return type(value) in plain_types

    class Short(reprlib.Repr):
        def repr_instance(self, value, level):
            if type(value).__repr__ is object.__repr__ or written_by_program(type(value).__repr__):
                return "<%s object>" % type(value).__name__
            return super().repr_instance(value, level)

    short = Short()
    short.maxlevel, short.maxstring, short.maxother, short.maxlong = 4, 200, 200, 60
    short.maxlist = short.maxtuple = short.maxset = short.maxfrozenset = short.maxdict = short.maxdeque = 12

    def show(value):
        try:
            return short.repr(value)
        except BaseException:
            return "<%s object>" % type(value).__name__

    def honest(value):
        name = forged(value)
        if name:
            raise Failed("tampered", "a result of class %s, made by the code under test, answers comparisons itself" % name)
        return value

    def describe(error):
        text = traceback.format_exception_only(type(error), error)[-1].strip() if not isinstance(error, SystemExit) else "it called exit(%s)" % show(error.code)
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == program_name]
        return text + (" (line %d)" % lines[-1] if lines else "")

    # ---- checks ---------------------------------------------------------------------------------------------------

    def check_equal(source, left, right, text=None):
        checks[0] += 1
        if is_plain(left) or is_plain(right):
            honest(left), honest(right)
        if not left == right:
            raise Failed("failed", "%s: got %s, expected %s" % (source, show(left), show(right)) + note(text))

    def check_true(source, value, text=None):
        checks[0] += 1
        if not value:
            raise Failed("failed", "%s: got %s" % (source, show(value)) + note(text))

    def note(text):
        try:
            return "" if text is None else " (%s)" % show(text())
        except Exception:
            return ""

    class Rewrite(ast.NodeTransformer):
        """Asserts become calls that count and explain; imports of the module under test become the module under test."""

        def visit_Assert(self, node):
            self.generic_visit(node)
            test, args = node.test, []
            source = ast.Constant("assert " + " ".join(ast.unparse(node.test).split())[:300])
            if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
                name, args = "__check_equal__", [source, test.left, test.comparators[0]]
            else:
                name, args = "__check_true__", [source, test]
            if node.msg is not None:
                empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
                args.append(ast.Lambda(empty, node.msg))
            call = ast.Expr(ast.Call(ast.Name(name, ast.Load()), args, []))
            return ast.fix_missing_locations(ast.copy_location(call, node))

        def visit_ImportFrom(self, node):
            if task["module"] is None or node.level > 1 or (node.module or "").split(".")[-1] != task["module"]:
                return node
            found = []
            for alias in node.names:
                if alias.name == "*":
                    continue  # The tests see all names anyway.
                value = ast.Attribute(ast.Name("__candidate__", ast.Load()), alias.name, ast.Load())
                found.append(ast.Assign([ast.Name(alias.asname or alias.name, ast.Store())], value))
            return [ast.fix_missing_locations(ast.copy_location(n, node)) for n in found] or ast.copy_location(ast.Pass(), node)

        def visit_Import(self, node):
            if task["module"] is None or not any(a.name == task["module"] for a in node.names):
                return node
            rest = [a for a in node.names if a.name != task["module"]]
            found = [ast.Import(rest)] if rest else []
            for a in node.names:
                if a.name == task["module"]:
                    found.append(ast.Assign([ast.Name(a.asname or a.name, ast.Store())], ast.Name("__candidate__", ast.Load())))
            return [ast.fix_missing_locations(ast.copy_location(n, node)) for n in found]

    # ---- the program under test -----------------------------------------------------------------------------------

    def snapshot():
        return {k: id(v) for k, v in vars(builtins).items() if k != "_"}

    before = snapshot()

    def untouched():
        changed = [k for k, v in snapshot().items() if before.get(k) != v] + [k for k in before if k not in vars(builtins)]
        if changed:
            raise Failed("tampered", "the code under test replaced the builtin %s" % changed[0])

    candidate = types.ModuleType(task["module"] or "candidate")
    try:
        code = compile(task["program"], program_name, "exec", dont_inherit=True)
    except BaseException as error:
        line = getattr(error, "lineno", None)
        report("error", "%s: %s%s" % (type(error).__name__, getattr(error, "msg", error), " (line %d)" % line if line else ""))
    try:
        exec(code, candidate.__dict__)
    except BaseException as error:
        report("error", "while loading: " + describe(error))

    def fetch(name):
        for part in (name or "").split("."):
            scope = candidate.__dict__ if part == (name or "").split(".")[0] else vars(found)
            if part not in scope:
                raise Failed("error", "the program has no function %s" % name)
            found = scope[part]
        return found

    def wrapped(function):
        def call(*args, **kwargs):
            return honest(function(*args, **kwargs))

        return call

    # ---- examples in docstrings -----------------------------------------------------------------------------------

    def docstrings(tree, name):
        """The docstrings with examples: those of the function `name`, else all."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
        nodes = [n for n in ast.walk(tree) if isinstance(n, kinds) and ">>>" in (ast.get_docstring(n) or "")]
        own = [n for n in nodes if getattr(n, "name", None) == name]
        return [ast.get_docstring(n) for n in own or nodes]

    def run_examples(text, scope):
        checker = doctest.OutputChecker()
        flags_by_default = doctest.IGNORE_EXCEPTION_DETAIL
        for example in doctest.DocTestParser().get_examples(text):
            flags = flags_by_default
            for flag, on in example.options.items():
                flags = flags | flag if on else flags & ~flag
            if flags & doctest.SKIP:
                continue
            source = example.source.strip()
            printed, real = io.StringIO(), sys.stdout
            failure = value = None
            sys.stdout = printed
            try:
                try:
                    compiled = compile(source, "<example>", "eval", dont_inherit=True)
                except SyntaxError:
                    compiled = compile(example.source, "<example>", "exec", dont_inherit=True)
                value = eval(compiled, scope)
                honest(value)
                if value is not None:
                    printed.write(repr(value) + "\n")
            except Failed:
                raise
            except BaseException as error:
                failure = error
            finally:
                sys.stdout = real
            got = printed.getvalue()
            line = " ".join(source.split())
            if failure is not None:
                if example.exc_msg is None:
                    raise Failed("failed", "%s raised %s" % (line, describe(failure)))
                told = traceback.format_exception_only(type(failure), failure)[-1]
                if not checker.check_output(example.exc_msg.split(":")[0], told.split(":")[0].split(".")[-1], flags):
                    raise Failed("failed", "%s raised %s, expected %s" % (line, told.strip(), example.exc_msg.strip()))
                checks[0] += 1
                continue
            # An example that shows nothing only prepares the next ones.
            if example.want or got:
                checks[0] += 1
            if example.exc_msg is not None:
                raise Failed("failed", "%s gave %s, expected %s" % (line, got.strip()[:300] or "nothing", example.exc_msg.strip()))
            if not checker.check_output(example.want, got, flags):
                raise Failed("failed", "%s gave %s, expected %s" % (line, got.strip()[:300] or "nothing", example.want.strip()[:300] or "nothing"))

    # ---- a tests file ---------------------------------------------------------------------------------------------

    def run_unittest(case):
        class Result(unittest.TestResult):
            def addSubTest(self, test, subtest, error):
                super().addSubTest(test, subtest, error)
                if error is not None:
                    self.stop()

        for test in unittest.defaultTestLoader.loadTestsFromTestCase(case):
            result = Result()
            try:
                test.run(result)
            except Failed:
                raise
            checks[0] += 1
            bad = result.failures + result.errors
            if bad:
                told = bad[0][1].strip().splitlines()[-1]
                raise Failed("failed", "%s: %s" % (test.id().split(".", 1)[-1], told))
            if result.skipped or result.expectedFailures or result.unexpectedSuccesses:
                checks[0] -= 1

    def run_tests_file(name, text):
        try:
            tree = ast.parse(text, name)
        except (SyntaxError, ValueError) as error:
            raise Failed("error", "the tests file %s does not parse: %s (line %s)" % (name, getattr(error, "msg", error), getattr(error, "lineno", "?")))
        functions = [n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        calls = [n.value.func.id for n in tree.body if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Name)]
        examples = docstrings(tree, None)
        scope = dict(candidate.__dict__)
        entry = task["entry_point"]
        if entry and "." not in entry and callable(scope.get(entry)):
            scope[entry] = wrapped(scope[entry]) if isinstance(scope[entry], types.FunctionType) else scope[entry]
        own = {"__name__": "__tests__", "__file__": name, "__candidate__": candidate}
        scope.update(own, __check_equal__=check_equal, __check_true__=check_true)
        code = compile(Rewrite().visit(tree), name, "exec", dont_inherit=True)
        try:
            exec(code, scope)
        except ImportError as error:
            raise Failed("error", "the tests file %s cannot be loaded: %s" % (name, describe(error)))
        for function in functions:
            takes = function.args.posonlyargs + function.args.args
            required = len(takes) - len(function.args.defaults)
            if function.name == "check" and "check" not in calls:
                if entry is None:
                    raise Failed("error", "check(candidate) needs a function to test, and the program has none")
                scope["check"](wrapped(fetch(entry)))
            elif function.name.startswith("test"):
                if required:
                    raise Failed("error", "%s needs arguments (pytest fixtures are not supported)" % function.name)
                if isinstance(function, ast.AsyncFunctionDef):
                    raise Failed("error", "%s is asynchronous, which is not supported" % function.name)
                done = checks[0]
                scope[function.name]()
                checks[0] = max(checks[0], done + 1)
        for node in tree.body:
            value = scope.get(node.name) if isinstance(node, ast.ClassDef) else None
            if isinstance(value, type) and issubclass(value, unittest.TestCase):
                run_unittest(value)
            elif isinstance(value, type) and node.name.startswith("Test"):
                for method in [m.name for m in node.body if isinstance(m, ast.FunctionDef) and m.name.startswith("test")]:
                    done = checks[0]
                    getattr(value(), method)()
                    checks[0] = max(checks[0], done + 1)
        for text in examples:
            run_examples(text, scope)

    try:
        untouched()
        sys.settrace(None), sys.setprofile(None), threading.settrace(None), threading.setprofile(None)
        if task["tests"]["kind"] == "doctest":
            tree = ast.parse(task["tests"]["source"])
            for text in docstrings(tree, (task["entry_point"] or "").split(".")[-1]):
                run_examples(text, dict(candidate.__dict__, __name__="__tests__"))
        else:
            run_tests_file(task["tests"]["name"], task["tests"]["text"])
        untouched()
    except Failed as failure:
        report(*failure.args)
    except BaseException as error:
        report("failed", "the tests raised " + describe(error))
    if checks[0] == 0:
        report("not_run", "the tests hold nothing to check")
    report("passed", "%d check%s" % (checks[0], "" if checks[0] == 1 else "s"))


main()
