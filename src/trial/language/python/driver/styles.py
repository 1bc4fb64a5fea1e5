# The driver: a tests file. Plain asserts, `check(candidate)`, `test_*` functions and classes, unittest, `>>>`
# examples.


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
        self.calls_check = any(
            isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "check"
            for node in self.tree.body if not hasattr(node, "name") for part in ast.walk(node))
        rewritten = ast.fix_missing_locations(Rewriter(self.judge.sites, self.judge.check_lines, self.tree).visit(self.tree))
        try:
            self.code = compile(rewritten, file_name, "exec", 0, True)
        except (SyntaxError, ValueError) as error:
            raise End("error", "tests file %s, line %d: %s" % (file_name, getattr(error, "lineno", 1) or 1, error))

    def prepare(self, guard):
        """Imports, before the candidate, what the tests import, so that replaced parts of it are noticed."""
        self.missing = set()
        if self.only_examples:
            return
        self.prepare_pytest()
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

    def prepare_pytest(self):
        """Puts our own pytest in the place of the real one, unless the tests use more of it."""
        names = {a.asname or a.name for node in self.imports if isinstance(node, ast.Import) for a in node.names if a.name == "pytest"}
        froms = [node for node in self.imports if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "pytest"]
        if not names and not froms and "pytest" not in self.named:
            return
        names = names or {"pytest"}
        used = {node.attr for node in ast.walk(self.tree)
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names}
        used |= {a.name for node in froms for a in node.names}
        beyond = sorted(used - set(OFFERED_NAMES))
        if not beyond:
            modules["pytest"] = make_pytest()
            return
        try:
            __import__("pytest")
            modules["pytest"].fixture = fixture
        except BaseException:
            raise End("error", "tests file %s uses `pytest.%s`, and this Python does not have pytest: install it or do without"
                      % (self.file_name, beyond[0]))

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
        self.before = 0
        self.attempt("the tests file", lambda: exec(self.code, vars(tests)), top_level=True)
        self.conclude()
        # What the file asked of the code while it was loaded may be looked at by any test.
        self.is_told = judge.guard.has_answered()
        self.space = vars(tests)
        self.known = {thing.name: thing for thing in self.space.values() if isinstance(thing, Fixture)}
        self.wide = Fixtures(self.known)
        check = self.space.get("check")
        if "check" in self.bodies and type(check) is FunctionType and not self.calls_check:
            self.check(check, space, entry)
        self.attempt("setup_module", lambda: call_with(self.space.get("setup_module"), tests))
        for name, node in self.bodies.items():
            thing = self.space.get(name)
            if name.startswith("test") and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and callable(thing):
                self.function(name, thing)
            elif isinstance(node, ast.ClassDef) and isinstance(thing, type):
                unit = modules.get("unittest")
                if unit is not None and issubclass(thing, unit.TestCase):
                    self.unittest_class(unit, name, thing)
                elif name.startswith("Test"):
                    self.plain_class(name, thing)
        self.attempt("teardown", self.wide.close)
        self.attempt("teardown_module", lambda: call_with(self.space.get("teardown_module"), tests))
        for _path, text in self.texts:
            examples = find_examples(text)
            if examples:
                run_examples(judge, examples, dict(vars(tests)))
        if vars(tests).get("@judge") is not judge:
            # `from ... import *` brings whatever the code calls so.
            raise End("tampered", "the code replaced what judges the tests")
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
            is_codes = line_in(error, CANDIDATE) or "@number" in vars(error)
            started = not top_level or own or in_assert or is_codes or isinstance(error, AssertionError)
            if started:
                raise End("failed", self.judge.describe(error, doing))
            raise End("error", "tests file %s, line %s: %s" % (self.file_name, line or "?", show_error(error)))

    def counted(self, name, action):
        """Runs a test function."""
        self.begin()
        self.attempt(name, action)
        self.conclude()

    def begin(self):
        self.before, self.judge.has_looked = self.judge.count, False
        if not self.is_told:
            self.judge.guard.begin()

    def conclude(self):
        """A test that checked something without an assert (`with raises(...)`, `self.assertEqual`) counts as one check."""
        self.judge.count += self.judge.count == self.before and self.judge.has_looked

    def check(self, check, space, entry):
        if entry is None:
            mine = [key for key, value in space.items() if isinstance(value, tuple(FUNCTION_KINDS)) and not key.startswith("_")]
            if len(mine) != 1:
                raise End("error", "the tests define check(candidate), but it is not known which function to give it: name the entry point")
            entry = mine[0]
        self.counted("check", lambda: check(find(space, entry)))

    def function(self, name, function):
        setup, teardown = self.space.get("setup_function"), self.space.get("teardown_function")
        self.cases(name, function, self.known, self.wide, lambda: None,
                   lambda _instance, given: (call_with(setup, function), function(**given))[1], lambda _instance: call_with(teardown, function))

    def plain_class(self, name, cls):
        known = dict(self.known)
        spaces = [class_dict(c) for c in reversed(class_mro(cls)) if class_module(c) == "tests_of_the_candidate"]
        members = {key: value for space in spaces for key, value in space.items()}
        known.update((thing.name, thing) for thing in members.values() if isinstance(thing, Fixture))
        wide = Fixtures(known, self.wide)
        self.attempt(name + ".setup_class", lambda: call_with(getattr(cls, "setup_class", None), cls))
        for key, method in members.items():
            if not key.startswith("test") or not callable(getattr(cls, key, None)):
                continue

            def run(instance, given, key=key):
                call_with(getattr(instance, "setup_method", getattr(instance, "setup", None)), getattr(instance, key))
                return getattr(instance, key)(**given)

            def end(instance, key=key):
                call_with(getattr(instance, "teardown_method", getattr(instance, "teardown", None)), getattr(instance, key))

            self.cases("%s.%s" % (name, key), method, known, wide, cls, run, end, cls)
        self.attempt(name + ".teardown", wide.close)
        self.attempt(name + ".teardown_class", lambda: call_with(getattr(cls, "teardown_class", None), cls))

    def cases(self, label, function, known, above, make, run, end, cls=None):
        """Runs a test with all its parameters, each time with fixtures of its own."""
        marks = marks_of(function, cls, modules["tests_of_the_candidate"])
        if is_skipped(marks):
            return
        wanted = [n for n in parameters(function) if cls is None or n != "self"]
        used = [n for n in known if known[n].autouse] + [n for m in marks if m.name == "usefixtures" for n in m.args]
        for case in cases_of(marks, known, wanted + used, label, self.file_name):
            if is_skipped(case.marks):
                continue
            asked = wanted + used + [n for name in needed_fixtures(known, wanted + used) for n in parameters(known[name].function)]
            lacking = [n for n in asked if n not in case.values and n not in known and n not in BUILT_IN and n != "self"]
            if lacking:
                raise End("error", "%s in %s needs the fixture `%s`, which is not known" % (label, self.file_name, lacking[0]))

            def once(case=case):
                fixtures, instance = Fixtures(known, above, case.indirect), make()
                try:
                    for name in used:
                        fixtures.value(name, instance)
                    given = {n: case.values[n] if n in case.values else fixtures.value(n, instance) for n in wanted}
                    return finish(run(instance, given))
                finally:
                    end(instance)
                    fixtures.close()

            known_to_fail = [m for m in case.marks if m.name == "xfail" and holds_here(m)]
            self.counted(label, (lambda: self.known_failure(label, known_to_fail[0], once)) if known_to_fail else once)

    def known_failure(self, label, mark, action):
        """Runs a test that is marked as an expected failure."""
        if mark.kwargs.get("run") is False:
            return
        try:
            action()
        except End:
            raise
        except BaseException as error:
            if not isinstance(error, mark.kwargs.get("raises") or BaseException):
                raise
            self.judge.failed, self.judge.has_looked = None, False
        else:
            if mark.kwargs.get("strict"):
                raise End("failed", "%s passed, but is marked as an expected failure" % label)

    def unittest_class(self, unit, name, cls):
        suite = self
        self.begin()

        class Result(unit.TestResult):
            def startTest(self, test):
                unit.TestResult.startTest(self, test)
                # What `setUpClass` asked may be looked at by every test.
                suite.is_told = suite.is_told or (self.testsRun == 1 and suite.judge.guard.has_answered())
                suite.begin()

            def addFailure(self, test, err):
                self.stop_at(test, err)

            addError = addFailure

            def addSubTest(self, test, subtest, err):
                if err is not None:
                    self.stop_at(test, err)

            def addSuccess(self, test):
                suite.conclude()

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


def is_skip(error):
    """Whether the tests skip themselves. Code under test cannot: an error of its own is no skip."""
    cls = type(error)
    home = class_dict(cls).get("__module__", "")
    return (class_name(cls) in ("SkipTest", "Skipped", "XFailed") and home.startswith(("unittest", "_pytest", "pytest"))
            and getattr(modules.get(home), class_name(cls), None) is cls and line_in(error, CANDIDATE) is None)


def finish(value):
    """Waits for the coroutine of an async test."""
    if type(value) is types.CoroutineType:
        import asyncio
        return asyncio.run(value)
    return value


def find(space, entry, get=getattr):
    """The function under test; `Class.method` is followed. What is nested in a function is reached through that alone."""
    first, _, rest = entry.partition(".")
    if first not in space:
        raise End("error", "the code does not define `%s`" % entry)
    thing = space[first]
    for part in rest.split(".") if rest else ():
        if isinstance(thing, tuple(FUNCTION_KINDS)):
            break
        try:
            thing = get(thing, part)
        except BaseException:
            raise End("error", "the code does not define `%s`" % entry)
    return thing
