# Runs the tests of a project inside the sandbox: with pytest where it is installed, else with unittest. Reports
# each test by name. The code under test is in the project here, or in a worker that the body which stands in
# its place asks.
import ast
from importlib.util import find_spec
from tempfile import gettempdir, mkdtemp
from time import sleep
from _thread import allocate_lock, get_ident, start_new_thread

CONTROL = "the function under test has no body here"


class Said:
    """A stream that remembers the first of what is written to it: pytest says there why it ends at once."""

    def __init__(self, stream):
        self.stream, self.text = stream, ""

    def write(self, text):
        self.text += text[:max(0, 20000 - len(self.text))]
        return self.stream.write(text)

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def complaint(self):
        lines = [line.strip() for line in self.text.split("\n")]
        found = [line.partition("error: ")[2] for line in lines] + [line.partition("ERROR: ")[2] for line in lines]
        # Settings in code that cannot be loaded end with their error.
        loading = [line[2:].strip() for line in lines if line.startswith("E  ")][-1:] if "while loading conftest" in self.text else []
        # A fault of its own, or of a plugin: the line of the error is the first that is not set in.
        inner = [line.partition("INTERNALERROR> ")[2] for line in lines]
        inner = [line for line in inner if line[:1].strip() and not line.startswith("Traceback")][:1]
        return next(filter(None, loading + inner + found), "")


# For how many seconds tests are tried on a function that returns nothing.
AGAIN = 3


class OtherProcesses:
    """Notices that the function is called in processes that tests start: the module that the body asks for is a
    file there, and leaves a note."""

    def __init__(self):
        folder = mkdtemp()
        self.own, self.note = os.getpid(), os.path.join(folder, "called")
        with open(os.path.join(folder, "_reached.py"), "w") as file:
            file.write("def called():\n    open(%r, 'w').close()\n    raise RuntimeError(%r)\n" % (self.note, CONTROL))
        sys.path.append(folder)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), folder]))

    def is_here(self):
        """Whether this is the process of the tests; any other one leaves its note."""
        if os.getpid() != self.own:
            open(self.note, "w").close()
        return os.getpid() == self.own

    def have_called(self):
        if not os.path.exists(self.note):
            return False
        os.unlink(self.note)
        return True


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


def mentions_failures(files):
    """Whether tests say that some of them are to fail. Where none does, code under test has said it."""
    for file in filter(os.path.isfile, files):
        with open(file, errors="replace") as opened:
            text = opened.read()
        if "xfail" in text or "expectedFailure" in text:
            return True
    return False


def main():
    read, dumps = os.read, json.dumps
    request_fd, record_fd, *ends = map(int, sys.argv[1:])
    request = request_of(request_fd)
    path, function, source, only = request["tests"], request["function"], request["source"], request["only"]
    tests, complaints, current, reached, item_now = {}, [], [""], set(), []
    # All tests of a folder; `only` then holds their full names.
    is_suite = os.path.isdir(path)
    # Why the code has to be in this process, as far as calls of the function have shown.
    shares, line, purpose, looked_at = [None], None, request["purpose"], set()
    noticed, reports = [False], allocate_lock()

    def short(text):
        return " ".join(str(text).split())[:300]

    def report():
        shown, told = [], 0
        for name, (outcome, message) in tests.items():
            told += bool(message)
            shown.append([name, outcome, message if told <= 20 else ""])
        reports.acquire()
        # Only now does this process learn the number that the report has to carry.
        names = {"nonce": read(request_fd, 64).decode(), "tests": shown, "complaint": short(complaints[0]) if complaints else ""}
        if purpose == "baseline":
            names["reached"] = sorted(reached)
            names["noticed"] = noticed[0] is True
            if is_suite:
                files = sorted({name.partition("::")[0] for name in reached})
                shares[0] = shares[0] or why_one_process(request["own"] or "", function or "", files, here)
            if request["own"] is not None:
                names["apart"] = {"reason": shares[0]}
        if line is not None and line.broken is not None:
            names["end"] = [line.broken.status, short(line.broken.message)]
        data = dumps(names).encode() + b"\n"
        while data:
            data = data[write(record_fd, data):]
        sys.stdout.flush()
        sys.stderr.flush()
        leave(0)

    class Plugin:
        def pytest_load_initial_conftests(self, parser, args):
            yield  # Until the project's own options are known.
            take_ignored(parser, args)

        def pytest_runtest_logstart(self, nodeid, location):
            current[0] = nodeid

        def pytest_runtest_logfinish(self, nodeid, location):
            ended(nodeid)

        def pytest_runtest_setup(self, item):
            item_now[:] = [item]

        def pytest_collection_finish(self, session):
            no_early_ends()
            if line is not None:
                line.look()

        def pytest_collection_modifyitems(self, items):
            if source is not None:
                items[:] = [item for item in items if hasattr(item, "dtest") and is_asked(item)]
            elif is_suite and only:
                items[:] = [item for item in items if item.nodeid in only]

        def pytest_runtest_makereport(self, item, call):
            error = call.excinfo.value if call.excinfo is not None else None
            if line is not None and line.broken is not None:
                item.session.shouldstop = "nothing can be asked any more"
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
                outcome = "passed" if hasattr(report, "wasxfail") and expects_failures else "skipped"
                tests[report.nodeid] = known or (outcome, "")
            elif report.when == "call" and report.passed:
                tests[report.nodeid] = known or ("passed", "")

        def pytest_sessionfinish(self, session):
            if purpose == "baseline" and reached and "" not in reached:
                noticed[0] = again([item for item in session.items if item.nodeid in reached])

        def pytest_collectreport(self, report):
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                # Of all tests those that cannot be loaded are not about the function.
                if is_suite:
                    return
                lines = str(crash.message if crash else report.longrepr).strip().split("\n")
                errors = [line for line in lines if line.startswith("E  ")] or lines
                complaints.append("%s: %s" % (report.nodeid, errors[-1].lstrip("E ")))

    def again(items):
        """Whether one of these fails, too, when the function returns nothing."""
        stand_in.called, noticed[0] = lambda: None, None
        start_new_thread(give_up, ())
        try:
            from _pytest.runner import runtestprotocol
            for item in items:
                if hasattr(item, "_initrequest"):
                    item._initrequest()
                if any(report.failed for report in runtestprotocol(item, log=False)):
                    return True
        except BaseException:
            pass
        return False

    def give_up():
        # A test that waits for more than nothing has noticed it.
        sleep(AGAIN)
        if noticed[0] is None:
            noticed[0] = True
            report()

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

        if line is not None:
            line.look()
        for test in doctest.DocTestFinder().find(module):
            Item.dtest = test
            if is_asked(Item) and test.examples:
                current[0] = test.name
                tests[test.name] = ("passed", "")
                Runner(verbose=False).run(test, out=lambda text: None)

    def no_early_ends():
        """Takes from unittest the error by which a test ends early as a success: any code could raise it."""
        case = sys.modules.get("unittest.case")
        if case is not None:
            case._ShouldStop = ()

    def each(suite):
        for test in suite:
            yield from each(test) if hasattr(test, "__iter__") else [test]

    def with_unittest(unittest):
        class Result(unittest.TestResult):
            def startTest(self, test):
                current[0] = test.id()

            def stopTest(self, test):
                ended(test.id())

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
        suite = unittest.TestSuite(each(unittest.defaultTestLoader.loadTestsFromModule(module)))
        for name, value in list(vars(module).items()):
            if name.startswith("test") and type(value) is type(main) and value.__code__.co_argcount == 0:
                suite.addTest(unittest.FunctionTestCase(value, description=name))
        if only:
            named = [".%s." % name.replace("::", ".") for name in only]
            suite = unittest.TestSuite(test for test in suite if any(name in ".%s." % test.id() for name in named))
            if not suite.countTestCases():
                complaints.append("there is no test %s in %s" % (" or ".join(only), path))
        if line is not None:
            line.look()
        no_early_ends()
        suite.run(Result())

    sys.argv[:] = ["tests"]
    here = enter(request)
    # The body that stands in for the function's comes here.
    stand_in = sys.modules["_reached"] = type(sys)("_reached")
    others = OtherProcesses() if purpose == "baseline" else None
    if purpose != "candidate":
        line = ProjectLine(*(ends or os.pipe()), Tree(here, request), os.path.abspath(path))

    def ended(test):
        if others is not None and others.have_called():
            reached.add(test)
            shares[0] = shares[0] or "the tests call the function in other processes"

    def called():
        if not others.is_here():
            raise RuntimeError(CONTROL)
        reached.add(current[0])
        if current[0]:
            try:
                shares[0] = shares[0] or why_shared(sys._getframe(1))
            except Exception as error:
                shares[0] = "what the tests pass cannot be looked at (%s)" % show_error(error)
            raise RuntimeError(CONTROL)
        shares[0] = "the tests call the function while they are loaded"

    def why_shared(frame):
        for item in item_now:
            used = sorted(SHARED_FIXTURES.keys() & set(getattr(item, "fixturenames", ())))
            if used:
                return "%s uses `%s`, which %s" % (item.name, used[0], SHARED_FIXTURES[used[0]])
            # A test with many parameters is one function.
            obj = getattr(item, "obj", None)
            code = getattr(getattr(obj, "__func__", obj), "__code__", item)
            if code not in looked_at:
                looked_at.add(code)
                examples = getattr(getattr(item, "dtest", None), "examples", ())
                reason = OfTest(item, line.tree).reason or why_of_text("".join(example.source for example in examples))
                if reason is not None:
                    return reason
        return why_of_callers(frame, line.tree, looked_at) or line.why_shared(function, frame)

    if purpose == "judge":
        stand_in.called = lambda: line.call(function, sys._getframe(1))
    elif purpose == "baseline":
        stand_in.called = called
        # Examples stand in the file of the function, which both sides load.
        files = settings_above(path, here) + [path] * (source is None and not is_suite)
        shares[0] = why_one_process(request["own"] or "", function or "", files, here)
        if shares[0] is None and not is_suite and find_spec("pytest") is None:
            with open(path, errors="replace") as opened:
                shares[0] = why_of_text(opened.read() if source is None else docstring(source, function)[0] or "")
    of_suite = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(".py")]
    expects_failures = mentions_failures(settings_above(path, here) + (of_suite if is_suite else [path]))
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
        # The project's own settings hold; what they add for a whole run of the developer's is taken back: other
        # processes, measuring coverage, an end at the first failure, tracebacks (which take ten times the time).
        options = ["-q", "--no-header", "--color=no", "--tb=line", "--maxfail=%d" % request["first"], "-p", "no:randomly", "-W", "ignore::pytest.PytestCacheWarning"]
        options += ["-n0"] if find_spec("xdist") else []
        options += ["--no-cov"] if find_spec("pytest_cov") else []
        options += ["--doctest-modules"] if source is not None else []
        options += ["--continue-on-collection-errors"] if is_suite else []
        names = ["%s::%s" % (path, name) for name in only]
        if is_suite:
            names = sorted({name.split("::")[0] for name in only})
            names = names if all(map(os.path.exists, names)) else []
        Plugin.pytest_load_initial_conftests = pytest.hookimpl(hookwrapper=True)(Plugin.pytest_load_initial_conftests)
        said = Said(sys.stderr)
        sys.stderr = said
        try:
            code = pytest.main(options + (names or [path]), plugins=[Plugin()])
        except BaseException as error:
            # Its own libraries may need the function: then the tests cannot be judged any further.
            code = 3
            complaints.append("pytest ended early: " + show_error(error))
        if int(code) not in (0, 1) and not complaints:
            words_of = {2: "it was interrupted", 3: "it failed by itself", 4: "its options cannot be used"}
            if int(code) == 4 and only and not is_suite:
                complaints.append("there is no test %s in %s" % (" or ".join(only), path))
            elif int(code) in words_of:
                complaints.append("pytest did not run the tests: " + (said.complaint() or words_of[int(code)]))
    report()


