# Runs the tests of a project inside the sandbox: with pytest where it is installed, else with unittest.
# Reports each test by name.
import ast
import json
import os
import sys

CONTROL = "the function under test has no body here"


def adopt(real, copy, kept):
    """Has every path that leads to the project lead to its copy: search paths, and the finders of packages that are
    installed to be edited."""
    def moved(path):
        if type(path) is not str or not (path + os.sep).startswith(real + os.sep):
            return path
        if any((path + os.sep).startswith(folder + os.sep) for folder in kept):
            return path
        return copy + path[len(real):]

    def move_all(table):
        for key, value in list(table.items()):
            table[key] = [moved(path) for path in value] if isinstance(value, (list, tuple)) else moved(value)

    sys.path[:] = [moved(path) for path in sys.path if path]
    # Where the project itself cannot be seen, Python has left out what these files say of it.
    for folder in [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]:
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith(".pth"):
                with open(os.path.join(folder, name), errors="replace") as lines:
                    paths = [moved(line.strip()) for line in lines if line.startswith("/")]
                sys.path += [path for path in paths if path.startswith(copy) and path not in sys.path]
    for finder in sys.meta_path:
        cls = finder if isinstance(finder, type) else type(finder)
        home = vars(sys.modules.get(cls.__module__) or sys)
        tables = [home.get("MAPPING"), home.get("NAMESPACES"), getattr(finder, "_redirections", None)]
        for table in tables:
            if isinstance(table, dict):
                move_all(table)


def docstring(source, function):
    """The docstring of a function in a module's text, and the line it begins on."""
    body = ast.parse(source).body
    node = None
    for part in function.split("."):
        nodes = [n for n in body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and n.name == part]
        if not nodes:
            return None, 0
        node = nodes[-1]
        body = node.body
    return ast.get_docstring(node, clean=False), node.lineno


def main():
    leave, write, read, dumps = os._exit, os.write, os.read, json.dumps
    request_fd, record_fd = map(int, sys.argv[-2:])
    line = b""
    while not line.endswith(b"\n"):
        line += read(request_fd, 1) or leave(3)
    request = json.loads(line)
    path, function, source = request["tests"], request["function"], request["source"]
    tests, complaints, current, reached = {}, [], [""], set()

    def short(text):
        return " ".join(str(text).split())[:300]

    def report():
        shown, told = [], 0
        for name, (outcome, message) in tests.items():
            told += bool(message)
            shown.append([name, outcome, message if told <= 20 else ""])
        # Only now does this process learn the number that the report has to carry.
        names = {"nonce": read(request_fd, 64).decode(), "tests": shown, "complaint": short(complaints[0]) if complaints else ""}
        if request["counts"]:
            names["reached"] = sorted(reached)
        data = dumps(names).encode() + b"\n"
        while data:
            data = data[write(record_fd, data):]
        sys.stdout.flush()
        sys.stderr.flush()
        leave(0)

    class Plugin:
        def pytest_runtest_logstart(self, nodeid, location):
            current[0] = nodeid

        def pytest_collection_modifyitems(self, items):
            if source is None:
                return
            items[:] = [item for item in items if hasattr(item, "dtest") and is_asked(item)]

        def pytest_runtest_makereport(self, item, call):
            error = call.excinfo.value if call.excinfo is not None else None
            failures = getattr(error, "failures", None) or ([error] if hasattr(error, "example") else [])
            if failures:
                item.user_properties.append(("example", words(failures[0])))

        def pytest_runtest_logreport(self, report):
            known = tests.get(report.nodeid)
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                message = short(crash.message.split("\n")[0]) if crash else short(report.longrepr)
                if crash:
                    message += " (%s:%s)" % (os.path.basename(crash.path), crash.lineno)
                tests[report.nodeid] = ("failed", dict(report.user_properties).get("example", message))
            elif report.skipped:
                outcome = "passed" if hasattr(report, "wasxfail") else "skipped"
                tests[report.nodeid] = known or (outcome, "")
            elif report.when == "call" and report.passed:
                tests[report.nodeid] = known or ("passed", "")

        def pytest_collectreport(self, report):
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                lines = str(crash.message if crash else report.longrepr).strip().split("\n")
                errors = [line for line in lines if line.startswith("E  ")] or lines
                complaints.append("%s: %s" % (report.nodeid, errors[-1].lstrip("E ")))

    def is_asked(item):
        """Whether these are examples of the function under test; they are taken from the user's text."""
        import doctest
        name = item.dtest.name
        if function is None:
            return True
        if name != function and not name.endswith("." + function):
            return False
        text, first = docstring(source, function)
        item.dtest.examples = doctest.DocTestParser().get_examples(text or "", name)
        item.dtest.lineno = first
        return True

    def words(failure):
        example = failure.example
        if hasattr(failure, "got"):
            gave = "gave %s" % (short(failure.got) or "nothing")
        else:
            gave = "raised %s: %s" % (failure.exc_info[0].__name__, short(failure.exc_info[1]))
        return "%s %s, expected %s" % (short(example.source), gave, short(example.want) or "nothing")

    def module_of(path):
        """Imports the module of a file by its full name."""
        parts, folder = [os.path.splitext(os.path.basename(path))[0]], os.path.dirname(os.path.abspath(path))
        while os.path.exists(os.path.join(folder, "__init__.py")):
            folder, name = os.path.split(folder)
            parts.insert(0, name)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        __import__(name)
        return sys.modules[name]

    def with_doctest():
        import doctest

        class Runner(doctest.DocTestRunner):
            def report_failure(self, out, test, example, got):
                note(test, doctest.DocTestFailure(test, example, got))

            def report_unexpected_exception(self, out, test, example, error):
                note(test, doctest.UnexpectedException(test, example, error))

        def note(test, failure):
            if tests[test.name][0] == "passed":
                tests[test.name] = ("failed", words(failure))

        try:
            module = module_of(path)
        except BaseException as error:
            complaints.append("%s: %s: %s" % (path, type(error).__name__, error))
            return

        class Item:
            pass

        for test in doctest.DocTestFinder().find(module):
            Item.dtest = test
            if is_asked(Item) and test.examples:
                current[0] = test.name
                tests[test.name] = ("passed", "")
                Runner(verbose=False).run(test, out=lambda text: None)

    def with_unittest(unittest):
        class Result(unittest.TestResult):
            def startTest(self, test):
                current[0] = test.id()

            def note(self, test, outcome, message=""):
                if tests.get(test.id(), ("passed",))[0] == "passed":
                    tests[test.id()] = (outcome, message)

            def addSuccess(self, test):
                self.note(test, "passed")

            def addFailure(self, test, error):
                self.note(test, "failed", short("%s: %s" % (error[0].__name__, error[1])))

            addError = addFailure

            def addSkip(self, test, reason):
                self.note(test, "skipped")

            def addExpectedFailure(self, test, error):
                self.note(test, "passed")

            def addUnexpectedSuccess(self, test):
                self.note(test, "failed", "it was expected to fail")

            def addSubTest(self, test, subtest, error):
                if error is not None:
                    self.addFailure(test, error)

        try:
            module = module_of(path)
        except BaseException as error:
            complaints.append("%s: %s: %s" % (path, type(error).__name__, error))
            return
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        for name, value in list(vars(module).items()):
            if name.startswith("test") and type(value) is type(main) and value.__code__.co_argcount == 0:
                suite.addTest(unittest.FunctionTestCase(value, description=name))
        suite.run(Result())

    if request["counts"]:
        # The body that stands in for the function's says here that it was called.
        def called():
            reached.add(current[0])
            if current[0]:
                raise RuntimeError(CONTROL)

        module = sys.modules["_reached"] = type(sys)("_reached")
        module.called = called
    sys.argv[:] = ["tests"]
    here = os.getcwd()
    adopt(request["root"], request["copy"], request["kept"])
    sys.path[:0] = [here, os.path.join(here, "src")]
    write(record_fd, b"started\n")
    try:
        import pytest
    except ImportError:
        if source is not None:
            with_doctest()
        else:
            import unittest
            with_unittest(unittest)
    else:
        from importlib.util import find_spec
        # The project's own settings hold; what they add for a whole run of the developer's is taken back: other
        # processes, measuring coverage, an end at the first failure, tracebacks (which take ten times the time).
        options = ["-q", "--no-header", "--color=no", "--tb=line", "--maxfail=%d" % request["first"], "-p", "no:randomly", "-W", "ignore::pytest.PytestCacheWarning"]
        options += ["-n0"] if find_spec("xdist") else []
        options += ["--no-cov"] if find_spec("pytest_cov") else []
        options += ["--doctest-modules"] if source is not None else []
        code = pytest.main(options + [path], plugins=[Plugin()])
        if int(code) not in (0, 1) and not complaints:
            words_of = {2: "it was interrupted", 3: "it failed by itself", 4: "its options cannot be used"}
            if int(code) in words_of:
                complaints.append("pytest did not run the tests: " + words_of[int(code)])
    report()


main()
