# The driver: a tests file. Plain asserts, `check(candidate)`, `test_*` functions and classes, unittest, `>>>` examples.


class Suite:
    """A tests file, read and compiled before the candidate is loaded, run after it."""

    def __init__(self, file_name, text, guard, module):
        self.module = module or None
        self.file_name, self.text = file_name, text
        self.judge = Judge(guard, file_name, text)
        self.only_examples = False
        try:
            self.tree = ast.parse(text, file_name)
        except (SyntaxError, ValueError) as error:
            if file_name.endswith((".txt", ".md", ".rst")) and ">>>" in text:
                self.only_examples, self.tree, self.code = True, ast.Module([], []), None
                return
            line = getattr(error, "lineno", None) or 1
            said = getattr(error, "msg", None) or str(error)
            raise End("error", "tests file %s, line %d: %s" % (file_name, line, said))
        self.texts = docstrings(self.tree)
        self.named = {node.id for node in ast.walk(self.tree) if isinstance(node, ast.Name)}
        self.named |= {node.attr for node in ast.walk(self.tree) if isinstance(node, ast.Attribute)}
        self.named |= {a.name for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom) for a in node.names}
        self.imports = [node for node in ast.walk(self.tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        self.bodies = {node.name: node for node in self.tree.body if hasattr(node, "name")}
        self.works = {id(node): works(node) for node in ast.walk(self.tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        self.by_line = {node.lineno: node for node in ast.walk(self.tree) if id(node) in self.works}
        self.calls_check = any(
            isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "check"
            for node in self.tree.body if not hasattr(node, "name") for part in ast.walk(node))
        rewritten = ast.fix_missing_locations(Rewriter(self.judge.sites).visit(self.tree))
        try:
            self.code = compile(rewritten, file_name, "exec", 0, True)
        except (SyntaxError, ValueError) as error:
            raise End("error", "tests file %s, line %d: %s" % (file_name, getattr(error, "lineno", 1) or 1, error))

    def prepare(self, guard):
        """Imports, before the candidate, what the tests import, so that replaced parts of it are noticed."""
        self.missing = set()
        if self.only_examples:
            return
        for node in self.imports:
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            for full in names:
                if full == self.module:
                    # The candidate's own file name, even where a library has the same.
                    self.missing.add(full)
                    continue
                if full in modules:
                    guard.watch(full)
                    continue
                try:
                    if isinstance(node, ast.ImportFrom) and node.level:
                        raise ImportError
                    __import__(full)
                    guard.watch(full)
                except BaseException:
                    self.missing.add(full)
        if "pytest" in self.missing:
            raise End("error", "tests file %s imports pytest, which this Python does not have: install it or use plain asserts"
                      % self.file_name)

    def alias(self, candidate):
        """Lets `from solution import f` and `import solution` reach the candidate when no such module exists."""
        space = vars(candidate).get("@names", vars(candidate))
        for node in self.imports:
            if isinstance(node, ast.ImportFrom):
                own = node.module == self.module
                if (node.level or node.module in self.missing) and (own or node.module not in modules):
                    lacks = [a.name for a in node.names if a.name != "*" and a.name not in space]
                    if lacks and len(lacks) == len(node.names):
                        raise End("error", "the code does not define `%s`, which the tests import (%s:%d)"
                                  % (lacks[0], self.file_name, node.lineno))
                    node_module = node.module or "__candidate__"
                    if own:
                        modules[node_module] = candidate
                    modules.setdefault(node_module, candidate)
                continue
            for alias in node.names:
                if alias.name == self.module:
                    modules[alias.name] = candidate
                elif alias.name in self.missing and alias.name not in modules:
                    used = alias.asname or alias.name
                    wanted = [part.attr for part in ast.walk(self.tree) if isinstance(part, ast.Attribute)
                              and isinstance(part.value, ast.Name) and part.value.id == used]
                    if wanted and all(attr in space for attr in wanted):
                        modules[alias.name] = candidate

    def run(self, candidate, space, entry):
        """Runs everything; ends the trial at the first failure; returns the number of checks."""
        judge = self.judge
        if self.only_examples:
            run_examples(judge, find_examples(self.text), space)
            return judge.count
        self.alias(candidate)
        tests = ModuleType("tests_of_the_candidate")
        modules[tests.__name__] = tests
        vars(tests).update(space)
        vars(tests).update({"@judge": judge, "__name__": tests.__name__, "__file__": self.file_name})
        self.attempt("the tests file", lambda: exec(self.code, vars(tests)), top_level=True)
        check = vars(tests).get("check")
        if "check" in self.bodies and type(check) is FunctionType and not self.calls_check:
            self.check(check, space, entry)
        for name, node in self.bodies.items():
            thing = vars(tests).get(name)
            if name.startswith("test") and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and callable(thing):
                self.function(name, thing, node)
            elif isinstance(node, ast.ClassDef) and isinstance(thing, type):
                unit = modules.get("unittest")
                if unit is not None and issubclass(thing, unit.TestCase):
                    self.unittest_class(unit, name, thing, node)
                elif name.startswith("Test"):
                    self.plain_class(name, thing, node)
        for _path, text in self.texts:
            examples = find_examples(text)
            if examples:
                run_examples(judge, examples, dict(vars(tests)))
        return judge.count

    def attempt(self, doing, action, top_level=False):
        """Runs a part of the tests; whatever it raises ends the trial."""
        try:
            return action()
        except End:
            raise
        except BaseException as error:
            if is_skip(error):
                return None
            own = self.judge.failed is not None and self.judge.failed[0] is error
            line = line_in(error, self.file_name)
            in_assert = any(site.first <= (line or 0) <= site.last for site in self.judge.sites)
            started = not top_level or own or in_assert or line_in(error, CANDIDATE) or isinstance(error, AssertionError)
            if started:
                raise End("failed", self.judge.describe(error, doing))
            raise End("error", "tests file %s, line %s: %s" % (self.file_name, line or "?", show_error(error)))

    def counted(self, name, node, action):
        """Runs a test function. One without asserts of its own (`with raises(...)`, `self.assertEqual`) counts as one check."""
        before = self.judge.count
        done = self.attempt(name, action)
        if self.judge.count == before and done is not SKIPPED and self.works.get(id(node), False):
            self.judge.count += 1

    def check(self, check, space, entry):
        if entry is None:
            mine = [key for key, value in space.items() if isinstance(value, tuple(FUNCTION_KINDS)) and not key.startswith("_")]
            if len(mine) != 1:
                raise End("error", "the tests define check(candidate), but it is not known which function to give it: name the entry point")
            entry = mine[0]
        self.counted("check", self.bodies["check"], lambda: check(find(space, entry)))

    def function(self, name, function, node):
        cases = parameter_sets(function, name, self.file_name)
        given = set(cases[0]) if cases else set()
        arguments = node.args.posonlyargs + node.args.args
        needed = [a.arg for a in arguments[:len(arguments) - len(node.args.defaults)] if a.arg not in given]
        needed = [a for a in needed if not hasattr(function, "patchings")]
        if needed:
            raise End("error", "%s in %s needs the fixture `%s`: fixtures are not supported" % (name, self.file_name, needed[0]))
        for case in cases:
            self.counted(name, node, lambda: finish(function(**case)))

    def plain_class(self, name, cls, node):
        for method in node.body:
            if not (isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) and method.name.startswith("test")):
                continue
            label = "%s.%s" % (name, method.name)
            extra = [a.arg for a in method.args.args[1:len(method.args.args) - len(method.args.defaults)]]
            cases = parameter_sets(vars(cls).get(method.name), label, self.file_name)
            extra = [a for a in extra if a not in (cases[0] if cases else ())]
            if extra:
                raise End("error", "%s in %s needs the fixture `%s`: fixtures are not supported" % (label, self.file_name, extra[0]))
            for case in cases:
                def once(case=case, method=method):
                    instance = cls()
                    getattr(instance, "setup_method", lambda: None)()
                    try:
                        return finish(getattr(instance, method.name)(**case))
                    finally:
                        getattr(instance, "teardown_method", lambda: None)()
                self.counted(label, method, once)

    def unittest_class(self, unit, name, cls, node):
        suite = self
        methods = {part.name: part for part in node.body if hasattr(part, "name")}

        class Result(unit.TestResult):
            def startTest(self, test):
                unit.TestResult.startTest(self, test)
                self.before = suite.judge.count

            def addFailure(self, test, err):
                self.stop_at(test, err)

            addError = addFailure

            def addSubTest(self, test, subtest, err):
                if err is not None:
                    self.stop_at(test, err)

            def addSuccess(self, test):
                method = methods.get(getattr(test, "_testMethodName", ""))
                if suite.judge.count == self.before and (method is None or suite.works.get(id(method), False)):
                    suite.judge.count += 1

            def addUnexpectedSuccess(self, test):
                raise End("failed", "%s passed, but is marked as an expected failure" % getattr(test, "_testMethodName", name))

            def stop_at(self, test, err):
                error = err[1]
                if isinstance(error, End):
                    raise error
                label = "%s.%s" % (name, getattr(test, "_testMethodName", "setUpClass"))
                raise End("failed", suite.judge.describe(error, label))

        loaded = [cls(method) for method in unit.TestLoader().getTestCaseNames(cls)]
        try:
            unit.TestSuite(loaded).run(Result())
        except End:
            raise
        except BaseException as error:
            raise End("failed", self.judge.describe(error, name))


SKIPPED = object()


def works(node):
    """Whether a function body does something that can fail."""
    return any(isinstance(part, (ast.Call, ast.Raise, ast.Assert)) for part in ast.walk(node))


def is_skip(error):
    """Whether the tests skip themselves. Code under test cannot: an error of its own is no skip."""
    cls = type(error)
    home = class_dict(cls).get("__module__", "")
    return (class_name(cls) in ("SkipTest", "Skipped") and home.startswith(("unittest", "_pytest"))
            and getattr(modules.get(home), class_name(cls), None) is cls and line_in(error, CANDIDATE) is None)


def finish(value):
    """Waits for the coroutine of an async test."""
    if type(value) is types.CoroutineType:
        import asyncio
        return asyncio.run(value)
    return value


def find(space, entry):
    """The function under test; `Class.method` is followed. What is nested in a function is reached through that alone."""
    first, _, rest = entry.partition(".")
    if first not in space:
        raise End("error", "the code does not define `%s`" % entry)
    thing = space[first]
    for part in rest.split(".") if rest else ():
        if isinstance(thing, tuple(FUNCTION_KINDS)):
            break
        try:
            thing = getattr(thing, part)
        except BaseException:
            raise End("error", "the code does not define `%s`" % entry)
    return thing


def parameter_sets(function, label, file_name):
    """The keyword arguments of each run of a test function: those of `pytest.mark.parametrize`, or one empty set."""
    cases = [{}]
    for mark in getattr(function, "pytestmark", []):
        kind = getattr(mark, "name", "")
        if kind in ("skip", "xfail") or (kind == "skipif" and any(mark.args[:1])):
            return []
        if kind != "parametrize":
            continue
        names = mark.args[0]
        names = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
        rows = []
        for row in mark.args[1]:
            row = getattr(row, "values", row) if type(row).__name__ == "ParameterSet" else row
            row = [row] if len(names) == 1 and type(row) is not tuple else row
            if len(row) != len(names):
                raise End("error", "%s in %s: parametrize names %d arguments and gives %d" % (label, file_name, len(names), len(row)))
            rows.append(dict(zip(names, row)))
        cases = [dict(case, **row) for row in rows for case in cases]
    return cases
