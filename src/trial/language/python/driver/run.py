# The driver: runs the tests of a project inside the sandbox, with pytest if tests or project require it, else
# with unittest and doctest. Reports each test by name.
from re import search, sub
from signal import ITIMER_REAL, SIGALRM, setitimer, signal
from tempfile import mkdtemp
from time import monotonic, sleep
from _thread import allocate_lock, start_new_thread

CONTROL = "the function under test has no body here"
# Time limit in seconds for tests of a function that returns nothing.
AGAIN = 3
# Time in seconds that a test has after it has called a function without a body, and then again and again: it may wait
# for ever for what that does.
LEFT = 3, 1


class Undefined(AttributeError):
    """The function under test is not in the code."""


class Waited(BaseException):
    """A test goes on long after it has called the function, which has no body."""


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
        # An internal error of pytest or a plugin: the error is on the first line that is not indented.
        inner = [line.partition("INTERNALERROR> ")[2] for line in lines]
        inner = [line for line in inner if line[:1].strip() and not line.startswith("Traceback")][:1]
        return next(filter(None, loading + inner + found), "")


class StandIn:
    """Behaviour of the function without its body: notes which test calls it. In processes that tests start, the
    module is a file, and leaves a note."""

    def __init__(self, tests):
        folder = mkdtemp()
        self.tests = os.path.realpath(tests)
        self.current, self.reached, self.answers, self.is_loaded_by = "", set(), False, False
        self.own, self.note = os.getpid(), os.path.join(folder, "called")
        with open(os.path.join(folder, "_reached.py"), "w") as file:
            file.write("def called():\n    open(%r, 'w').close()\n    raise RuntimeError(%r)\n" % (self.note, CONTROL))
        sys.path.append(folder)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), folder]))
        module = sys.modules["_reached"] = type(sys)("_reached")
        module.called = self.called
        signal(SIGALRM, self.late)

    def late(self, number, frame):
        raise Waited(CONTROL)

    def called(self):
        if self.answers:
            return None
        if os.getpid() != self.own:
            open(self.note, "w").close()
        elif not self.current and not os.path.realpath(sys._getframe(2).f_code.co_filename).startswith(self.tests):
            # A decorator or a factory that modules call while they are loaded: the tests that use its result call it.
            self.is_loaded_by = True
            return Later(self)
        elif self.current and self.current not in self.reached:
            setitimer(ITIMER_REAL, *LEFT)
        self.reached.add(self.current)
        raise RuntimeError(CONTROL)

    def ended(self, test):
        setitimer(ITIMER_REAL, 0)
        if os.path.exists(self.note):
            os.unlink(self.note)
            self.reached.add(test)


# Methods that Python looks up in the class of an object alone.
LOOKED_UP = "bool eq ne lt le gt ge str format len iter contains getitem setitem enter exit int float index round neg abs add sub mul \
truediv floordiv mod pow and or xor radd rsub rmul rtruediv rfloordiv rmod rand ror rxor".split()


def use_by(name):
    """A method of `Later` of this name."""
    def use(self, *values):
        if self._stand_in.current:
            return self._stand_in.called()
        # A module goes on with the result while it is loaded, and no test shows that.
        self._stand_in.reached.add("")
        of_all = getattr(object, name, None)
        if of_all is None and name != "__bool__":
            raise TypeError("there is no %s before the function has a body" % name)
        return of_all(self, *values) if of_all else True
    return use


class Later:
    """The result of a call of the stand-in outside of tests. Within a test its use counts as a call."""

    def __init__(self, stand_in):
        self.__dict__["_stand_in"] = stand_in

    def __call__(self, *values, **named):
        return self._stand_in.called() if self._stand_in.current else self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self()


for name in LOOKED_UP:
    setattr(Later, "__%s__" % name, use_by("__%s__" % name))


class Run:
    """One run of the tests: the ends of each, and what keeps them from being run."""

    def __init__(self, request, request_fd, record_fd):
        self.request, self.request_fd, self.record_fd = request, request_fd, record_fd
        self.path, self.function, self.only = request["tests"], request["function"], request["only"]
        self.is_suite = os.path.isdir(self.path)
        self.tests, self.complaints, self.missing, self.runner = {}, [], "", ""
        self.raised = {}
        self.stand_in = None
        self.noticed, self.lock, self.pid = False, allocate_lock(), os.getpid()

    def begin(self, test):
        if self.stand_in is not None:
            self.stand_in.current = test

    def end(self, test):
        if self.stand_in is not None:
            self.stand_in.ended(test)
            self.stand_in.current = ""

    def note(self, test, outcome, message=""):
        """The end of a test; the first that is no pass stands."""
        if self.tests.get(test, ("passed",))[0] == "passed":
            self.tests[test] = (outcome, message)

    def arose(self, test, error):
        """Notes where a test ran into what is not implemented, if that is a file of the project."""
        trace = error.__traceback__ if isinstance(error, NotImplementedError) else None
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        top = os.path.realpath(self.request["copy"])
        file = os.path.realpath(trace.tb_frame.f_code.co_filename) if trace is not None else ""
        if file.startswith(top + os.sep):
            self.raised.setdefault(test, (os.path.relpath(file, top), trace.tb_lineno))

    def skip(self, test, error):
        """Notes a test that was skipped; one that the code under test skips has failed."""
        trace, places = error.__traceback__ if error is not None else None, []
        while trace is not None:
            places.append(os.path.realpath(trace.tb_frame.f_code.co_filename))
            trace = trace.tb_next
        code = os.path.realpath(self.request["file"])
        # Tests in the file of the code have their own frames there.
        if code in (places[-1:] if code == os.path.realpath(self.path) else places):
            self.note(test, "failed", "the code under test skips it")
        else:
            self.note(test, "skipped")

    def complain(self, place, error):
        self.complaints.append("%s: %s" % (place, error if isinstance(error, str) else show_error(error)))

    def report(self, parts):
        shown, told = [], 0
        for name, (outcome, message) in self.tests.items():
            told += bool(message)
            shown.append([name, outcome, message if told <= 20 else ""])
        if os.getpid() != self.pid:
            # A forked copy of this process that ran on into the tests.
            leave(0)
        self.lock.acquire()
        changed = parts.replaced()
        # The code from here on relies on these builtins.
        vars(builtins).update(parts.own)
        names = {"tests": shown, "complaint": shorten(self.complaints[0]) if self.complaints else "", "missing": self.missing,
                 "runner": self.runner, "changed": changed, "raised": [(test, *place) for test, place in self.raised.items()]}
        if self.stand_in is not None:
            if self.stand_in.is_loaded_by and not self.stand_in.reached and any(end == "failed" for end, _ in self.tests.values()):
                # The call itself may be what tests need, such as an entry in a table: no test shows that it makes one.
                self.stand_in.reached.add("")
            names.update(reached=sorted(self.stand_in.reached), noticed=self.noticed is True)
        # Only now does this process learn the nonce of the report.
        data = dumps(dict(names, nonce=read(self.request_fd, 64).decode())).encode() + b"\n"
        while data:
            data = data[write(self.record_fd, data):]
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            leave(0)

    def look_again(self, parts, again):
        """Notes whether a test that calls the function fails as well if that returns nothing. `again` runs those tests."""
        reached = self.stand_in.reached if self.stand_in is not None else set()
        if self.stand_in is not None:
            # A fixture that calls the function, once for several tests, fails for each of them.
            reached.update(test for test, (_, message) in self.tests.items() if CONTROL in message)
        if not reached or "" in reached:
            return
        self.stand_in.answers, self.noticed = True, None
        known, self.tests = self.tests, {}

        def give_up():
            # A test that waits longer has noticed the empty body.
            sleep(AGAIN)
            if self.noticed is None:
                self.tests, self.noticed = known, True
                self.report(parts)

        start_new_thread(give_up, ())
        try:
            has_failed = again(reached) or any(outcome == "failed" for outcome, _ in self.tests.values())
        except BaseException:
            has_failed = False
        self.tests, self.noticed = known, has_failed


def docstring(source, function):
    """The docstring of a function or class in a module's text, or of the module for no name, and the line it begins on.
    Of what is not there `None`."""
    node = ast.parse(source)
    body = node.body
    for part in filter(None, function.split(".")):
        nodes = [n for n in body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and n.name == part]
        if not nodes:
            return None, 0
        node = nodes[-1]
        body = node.body
    return ast.get_docstring(node, clean=False) or "", getattr(node, "lineno", 0)


def settings_above(path, top):
    """The files in which a project may say how its tests run, from the folder of the tests up to the top."""
    folder = os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path) or ".")
    while folder == top or folder.startswith(top + os.sep):
        for name in ("conftest.py", "pytest.ini", "pytest.toml", "tox.ini", "setup.cfg", "pyproject.toml"):
            file = os.path.join(folder, name)
            if os.path.isfile(file):
                yield file
        folder = os.path.dirname(folder)


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as opened:
            return opened.read()
    except OSError:
        return ""


def names_for(tests, request):
    """The names of the code that the tests use without importing them; in a folder that was made for both, the code
    is also what they import by a name that nothing has."""
    lacking = []
    if request["lone"]:
        lacking = [name for name in sorted(tests.modules) if not has_module(name)]
    asks = {name for name in tests.free if not hasattr(builtins, name) or name == (request["function"] or "").partition(".")[0]}
    asks |= {"check"} if "check" in tests.functions and not tests.calls_check() else set()
    relative = request["lone"] and any(getattr(node, "level", 0) for node in tests.imports)
    if not (lacking or asks or relative):
        return {}
    # In a project the code may be loaded only under its own name, when the tests import it.
    if not request["lone"] and not asks & set(request["own_names"]) and "check" not in asks:
        return {}
    module, entry = module_of(request["file"]), (request["function"] or "").partition(".")[0]
    if entry in asks and not hasattr(module, entry):
        raise Undefined("the code does not define `%s`" % entry)
    for name in lacking:
        if tests.takes_from(name, lambda own: hasattr(module, own)):
            stand_for(name, module)
    found = {name: value for name, value in vars(module).items() if name in tests.free and (not hasattr(builtins, name) or name in asks)}
    # Modules that the tests forgot to import are there without the candidate's imports, too.
    standard = getattr(sys, "stdlib_module_names", ())
    found.update((name, __import__(name)) for name in asks if name not in found and name in standard)
    return found


def stand_for(name, module):
    """Makes it the module of this name, and empty ones of the packages that nobody has."""
    sys.modules[name] = module
    above, _, last = name.rpartition(".")
    if above and not has_module(above):
        stand_for(above, type(os)(above))
        setattr(sys.modules[above], last, module)


def has_module(name):
    try:
        return name in sys.modules or util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def result_of(run, tests):
    """The class of unittest's results that notes the end of each test."""
    import unittest
    # The error by which a test ends early as a success. Any code could raise it.
    sys.modules["unittest.case"]._ShouldStop = ()

    class Result(unittest.TestResult):
        def startTest(self, test):
            run.begin(test.id())

        def stopTest(self, test):
            run.end(test.id())

        def addSuccess(self, test):
            run.note(test.id(), "passed")

        def addFailure(self, test, error):
            # Without the candidate the set-up of a class may fail instead of its tests.
            if run.stand_in is None or hasattr(test, "_testMethodName") or CONTROL not in str(error[1]):
                run.note(test.id(), "failed", tests.words(error[1], test.id()) if tests is not None else show_error(error[1]))
                run.arose(test.id(), error[1])

        addError = addFailure

        def addSkip(self, test, reason):
            run.skip(test.id(), sys.exc_info()[1])

        def addExpectedFailure(self, test, error):
            run.note(test.id(), "passed")

        def addUnexpectedSuccess(self, test):
            run.note(test.id(), "failed", "it was expected to fail")

        def addSubTest(self, test, subtest, error):
            if error is not None:
                self.addFailure(test, error)
    return Result


def each_of(suite):
    for test in suite:
        yield from each_of(test) if hasattr(test, "__iter__") else [test]


def selected(run, all_tests):
    """The tests that were asked for by name; all if none was."""
    if not run.only:
        return all_tests
    named = [".%s." % name.replace("::", ".") for name in run.only]
    found = [test for test in all_tests if any(name in ".%s." % test.id() for name in named)]
    if not found:
        run.complain(run.path, "there is no test %s" % " or ".join(run.only))
    return found


def with_django(run, folder, module, tests, parts):
    """Runs tests with Django's own runner, as `manage.py test` does: with the project's settings and a test database."""
    path, run.request["file"] = os.path.relpath(run.path, folder), os.path.abspath(run.request["file"])
    os.chdir(folder)
    sys.path.insert(0, folder)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", module)
    import django
    django.setup()
    from django.conf import settings
    from django.test.utils import get_runner
    run.runner = "django %s" % django.get_version()
    result = result_of(run, tests)
    parts.look()
    label = path if run.is_suite else os.path.splitext(path)[0].replace(os.sep, ".")

    class Runner(get_runner(settings)):
        def run_suite(self, suite, **options):
            all_tests = selected(run, list(each_of(suite)))
            own, done = type(suite)(), result()
            own.addTests(all_tests)
            own.run(done)
            run.look_again(parts, again_with(all_tests, result))
            return done

    Runner(verbosity=0, interactive=False).run_tests([label])


def django_of(path, top, settings, has_pytest):
    """The folder that Django's own runner is started in and the module of its settings, if that runs the tests."""
    if util.find_spec("django") is None:
        return None
    if has_pytest and util.find_spec("pytest_django") is not None and any("DJANGO_SETTINGS_MODULE" in text_of(file) for file in settings):
        return None
    folder = os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path) or ".")
    while folder == top or folder.startswith(top + os.sep):
        for name in ("manage.py", "runtests.py", "tox.ini", "setup.cfg", "pyproject.toml", "Makefile", "noxfile.py"):
            found = search(r"(?:DJANGO_SETTINGS_MODULE|--settings)\W+([\w.]+)", text_of(os.path.join(folder, name)))
            if found:
                return folder, found.group(1)
        folder = os.path.dirname(folder)
    return None


def with_library(run, tests, names):
    """Runs a tests file with unittest; plain functions are tests, too, and so is the file where it checks something while
    it is loaded."""
    import unittest
    run.runner = "unittest"
    path, loaded, label = run.path, [], os.path.basename(run.path)
    # Where a file has tests, what it checks beside them is no test of its own.
    is_test = tests.checks_when_loaded() and not tests.tests()

    def load():
        if not names:
            loaded.append(module_of(path))
            return
        name = os.path.splitext(label)[0]
        module = type(sys)(name)
        vars(module).update(names)
        module.__file__ = os.path.abspath(path)
        sys.modules[name] = module
        loaded.append(module)
        exec(compile(tests.text, path, "exec", 0, True), vars(module))

    Result = result_of(run, tests)

    class Function(unittest.FunctionTestCase):
        def id(self):
            return self._description

    all_tests = []
    if is_test:
        all_tests.append(Function(load, description=label))
        all_tests[0].run(Result())
        if not loaded:
            return all_tests, Result
    else:
        try:
            load()
        except unittest.SkipTest:
            run.note(label, "skipped")
            return [], Result
        except AssertionError as error:
            run.note(label, "failed", tests.words(error, label))
            return [], Result
        except BaseException as error:
            run.complain(path, tests.words(error, label))
            return [], Result
    module, later = loaded[0], []
    later += each_of(unittest.defaultTestLoader.loadTestsFromModule(module))
    for name, value in list(vars(module).items()):
        if name.startswith("test") and type(value) is FunctionType and value.__code__.co_argcount == 0 and name in tests.functions:
            later.append(Function(value, description=name))
    check = vars(module).get("check")
    if "check" in tests.functions and not tests.calls_check() and not tests.tests():
        later.append(Function(lambda: check(entry_of(run, names)), description="check"))
    later = selected(run, later)
    unittest.TestSuite(later).run(Result())
    if not run.tests and not run.complaints:
        examples_in(run, module, vars(module))
    return all_tests + later, Result


def with_discovery(run, parts):
    """Runs the tests of a folder with unittest, which finds them by itself, where that finds all of them."""
    import unittest
    why = left_by_discovery(run.path)
    if why is not None:
        run.missing = "all tests of a folder are run with pytest (%s), which %s does not have: run `%s -m pip install pytest`" % (
            why, sys.executable, sys.executable)
        return None
    run.runner = "unittest"
    result = result_of(run, None)
    parts.look()
    all_tests = each_of(unittest.defaultTestLoader.discover(run.path, "*test*.py"))
    all_tests = [test for test in all_tests if not run.only or test.id() in run.only]
    unittest.TestSuite(all_tests).run(result())
    return run.look_again(parts, again_with(all_tests, result))


def left_by_discovery(path):
    """Why unittest does not find or run all tests below a folder, or None."""
    packages = {path}
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if folder not in packages and "__init__.py" in names and os.path.dirname(folder) in packages:
            packages.add(folder)
        for name in names:
            place = os.path.relpath(os.path.join(folder, name), path)
            if name == "conftest.py":
                return "for its settings in %s" % place
            if "test" not in name or not name.endswith(".py"):
                continue
            if folder not in packages:
                return "%s is in no package" % place
            try:
                tests = TestsFile(place, text_of(os.path.join(folder, name)))
            except (SyntaxError, ValueError):
                continue
            functions = [name for name in tests.functions if name.startswith("test")]
            why = tests.wants_pytest(False) or (functions and "%s of %s is a function" % (functions[0], place))
            if why:
                return why
    return None


def again_with(all_tests, result):
    def again(reached):
        for test in all_tests:
            if test.id() in reached:
                test.run(result())
    return again


def entry_of(run, names):
    """The function under test, for `check(candidate)`."""
    thing = module_of(run.request["file"])
    if run.function is None:
        mine = [value for key, value in vars(thing).items() if type(value) is FunctionType and not key.startswith("_") and value.__module__ == thing.__name__]
        if len(mine) != 1:
            raise LookupError("it is not known which function check(candidate) is for: name it")
        return mine[0]
    for part in run.function.split("."):
        if not hasattr(thing, part):
            raise Undefined("the code does not define `%s`" % run.function)
        thing = getattr(thing, part)
    return thing


def words_of_example(failure):
    example = failure.example
    got, want = getattr(failure, "got", ""), example.want
    raised = "Traceback (most recent call last):"
    if not hasattr(failure, "got"):
        gave = "raised %s" % show_error(failure.exc_info[1])
    elif got.startswith(raised):
        gave = "raised %s" % shorten(got.rstrip().split("\n")[-1])
    else:
        gave = "gave %s" % (shorten(got) or "nothing")
    want = example.exc_msg if example.exc_msg is not None else want
    source = sub(r"[ \t]*#[ \t]*doctest:[^\n]*", "", example.source)
    return "%s %s, expected %s" % (shorten(source), gave, shorten(want) or "nothing")


def is_asked(run, test):
    """True if these examples count: those of the function under test, or all of its file where its project runs them. They
    are taken from the user's text."""
    import doctest
    function, source = run.function, run.request["source"]
    if source is None or function is None:
        return True
    if run.request["all_examples"]:
        function = test.name[len(test.globs["__name__"]) + 1:]
    elif test.name != function and not test.name.endswith("." + function):
        return False
    text, first = docstring(source, function)
    if text is not None or not run.request["all_examples"]:
        test.examples, test.lineno = doctest.DocTestParser().get_examples(text or "", test.name), first
    return bool(test.examples)


def example_runner(run):
    import doctest
    run.runner = run.runner or "doctest"

    class Checker(doctest.OutputChecker):
        """An exception may be named without its module: these are examples for readers, which their project never runs."""
        example = None

        def check_output(self, want, got, flags):
            is_raised = self.example is not None and self.example.exc_msg == want
            return super().check_output(want, sub(r"^[\w.]+\.(?=\w+(:|$))", "", got) if is_raised and "." not in want.split(":")[0] else got, flags)

    class Runner(doctest.DocTestRunner):
        def report_start(self, out, test, example):
            self._checker.example = example

        def report_failure(self, out, test, example, got):
            run.note(test.name, "failed", words_of_example(doctest.DocTestFailure(test, example, got)))

        def report_unexpected_exception(self, out, test, example, error):
            run.arose(test.name, error[1])
            run.note(test.name, "failed", words_of_example(doctest.UnexpectedException(test, example, error)))

    def go(test):
        run.begin(test.name)
        run.tests[test.name] = ("passed", "")
        Runner(Checker(), verbose=False).run(test, out=lambda text: None, clear_globs=False)
        run.end(test.name)
    return go


def examples_in(run, module, names):
    """Runs the examples in the docstrings of a module."""
    import doctest
    go = example_runner(run)
    found = [test for test in doctest.DocTestFinder().find(module) if is_asked(run, test) and test.examples]
    spaces = [dict(test.globs) for test in found]
    for test in found:
        go(test)

    def again(reached):
        for test, space in zip(found, spaces):
            test.globs = space
            if test.name in reached:
                go(test)
    return again


def with_pytest(run, pytest, names, parts, settings):
    """Runs tests with pytest. The project's own settings hold; what they add for a whole run of the developer's is taken
    back: other processes, measuring coverage, an end at the first failure, tracebacks (which take ten times the time)."""
    request, path, only, is_suite = run.request, run.path, run.only, run.is_suite
    is_examples = request["source"] is not None
    run.runner = "pytest %s" % pytest.__version__
    if names:
        give_names(os.path.realpath(path), names)
    parts.look()
    of_suite = [os.path.join(folder, name) for folder, _, files in os.walk(path) for name in files if name.endswith(".py")]
    # If no test marks some of them as expected failures, code under test did.
    texts = map(text_of, settings + (of_suite if is_suite else [path]))
    expects_failures = any("xfail" in text or "expectedFailure" in text for text in texts)
    begun, named = monotonic(), set((run.function or "").split("."))
    named |= {word for part in named for word in part.split("_") if len(word) > 2}

    class Plugin:
        @pytest.hookimpl(hookwrapper=True)
        def pytest_load_initial_conftests(self, parser, args):
            yield  # Until the project's own options are known.
            take_ignored(parser, args)

        def pytest_runtest_logstart(self, nodeid, location):
            run.begin(nodeid)

        def pytest_runtest_logfinish(self, nodeid, location):
            run.end(nodeid)
            if is_suite and not only and monotonic() - begun > request["seconds"] and run.stand_in is not None and any(run.stand_in.reached):
                self.session.shouldstop = "some tests call the function, and the others take too long"

        def pytest_collection_finish(self, session):
            self.session = session
            case = sys.modules.get("unittest.case")
            if case is not None:
                case._ShouldStop = ()

        def pytest_collection_modifyitems(self, items):
            if is_examples:
                items[:] = [item for item in items if hasattr(item, "dtest") and is_asked(run, item.dtest)]
            elif is_suite and only:
                items[:] = [item for item in items if item.nodeid in only]
            elif is_suite:
                # Those of files that speak of it come first, by its name and the words in it: the others may take too long.
                places = {str(item.fspath) for item in items}
                places = {place: sum(part in text_of(place) for part in named) for place in places}
                items.sort(key=lambda item: -places[str(item.fspath)])

        def pytest_runtest_makereport(self, item, call):
            error = call.excinfo.value if call.excinfo is not None else None
            run.arose(item.nodeid, error)
            if type(error).__name__ in ("SkipTest", "Skipped"):
                run.skip(item.nodeid, error)
            failures = getattr(error, "failures", None) or ([error] if hasattr(error, "example") else [])
            if failures:
                item.user_properties.append(("example", words_of_example(failures[0])))

        def pytest_runtest_logreport(self, report):
            known = run.tests.get(report.nodeid)
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                message = shorten(crash.message.split("\n")[0]) if crash else shorten(report.longrepr)
                if "async def function" in message and "not natively supported" in message:
                    run.missing = "%s is a coroutine, which pytest runs with a plugin that %s does not have: run `%s -m pip install pytest-asyncio`" % (
                        report.nodeid, sys.executable, sys.executable)
                if crash:
                    message += " (%s:%s)" % (os.path.basename(crash.path), crash.lineno)
                run.tests[report.nodeid] = ("failed", dict(report.user_properties).get("example", message))
            elif report.skipped:
                outcome = "passed" if hasattr(report, "wasxfail") and expects_failures else "skipped"
                run.tests[report.nodeid] = known or (outcome, "")
            elif report.when == "call" and report.passed:
                run.tests[report.nodeid] = known or ("passed", "")

        def pytest_sessionfinish(self, session):
            run.look_again(parts, lambda reached: again([item for item in session.items if item.nodeid in reached]))

        def pytest_collectreport(self, report):
            # In a run of all tests, those that cannot be loaded are unrelated to the function.
            if report.failed and not is_suite:
                crash = getattr(report.longrepr, "reprcrash", None)
                lines = str(crash.message if crash else report.longrepr).strip().split("\n")
                errors = [line for line in lines if line.startswith("E  ")] or lines
                said = errors[-1].lstrip("E ")
                if said.startswith("assert") or "AssertionError" in said:
                    run.note(report.nodeid or path, "failed", shorten(said))
                else:
                    run.complain(report.nodeid, said)

    def again(items):
        from _pytest.runner import runtestprotocol
        for item in items:
            if hasattr(item, "_initrequest"):
                item._initrequest()
            if any(report.failed for report in runtestprotocol(item, log=False)):
                return True
        return False

    has_plugin = lambda name: util.find_spec(name) is not None
    options = ["-q", "--no-header", "--color=no", "--tb=line", "--maxfail=%d" % request["first"], "-p", "no:randomly", "-W", "ignore::pytest.PytestCacheWarning"]
    options += ["-n0"] if has_plugin("xdist") else []
    options += ["--no-cov"] if has_plugin("pytest_cov") else []
    options += ["--doctest-modules"] if is_examples else []
    options += ["--continue-on-collection-errors"] if is_suite else []
    asked = ["%s::%s" % (path, name) for name in only]
    if is_suite:
        asked = sorted({name.split("::")[0] for name in only})
        asked = asked if all(map(os.path.exists, asked)) else []
    said = Said(sys.stderr)
    sys.stderr = said
    try:
        code = pytest.main(options + (asked or [path]), plugins=[Plugin()])
    except BaseException as error:
        # Its own libraries may need the function. Then the tests cannot be judged any further.
        code = 3
        run.complaints.append("pytest ended early: " + show_error(error))
    if int(code) not in (0, 1) and not run.complaints and not run.tests:
        words_of = {2: "it was interrupted", 3: "it failed by itself", 4: "its options cannot be used"}
        if int(code) == 4 and only and not is_suite:
            run.complaints.append("there is no test %s in %s" % (" or ".join(only), path))
        elif int(code) in words_of:
            run.complaints.append("pytest did not run the tests: " + (said.complaint() or words_of[int(code)]))


def give_names(path, names):
    """Has pytest load the tests file with these names."""
    from _pytest.assertion import rewrite
    hook = rewrite.AssertionRewritingHook
    load = hook.exec_module

    def exec_module(self, module):
        if os.path.realpath(getattr(module, "__file__", None) or "") == path:
            vars(module).update(names)
        return load(self, module)

    hook.exec_module = exec_module


def main():
    request_fd, record_fd = map(int, sys.argv[1:3])
    request = request_of(request_fd)
    sys.argv[:] = ["tests"]
    run = Run(request, request_fd, record_fd)
    parts = Parts()
    path = run.path
    here = enter(request)
    # Programs that the tests start find it, too.
    run.stand_in = StandIn(path) if request["purpose"] == "baseline" else None
    settings = list(settings_above(path, here))
    write(record_fd, b"started\n")
    try:
        run_all(run, request, parts, settings)
    except BaseException as error:
        run.complain(path, error)
    run.report(parts)


def run_all(run, request, parts, settings):
    path = run.path
    has_pytest = util.find_spec("pytest") is not None
    tests, why = None, None
    if request["source"] is None and not run.is_suite:
        text = text_of(path)
        if path.endswith((".txt", ".md", ".rst")):
            return examples_of_text(run, text)
        try:
            tests = TestsFile(path, text)
        except (SyntaxError, ValueError) as error:
            run.complaints.append("tests file %s, line %d: %s" % (path, getattr(error, "lineno", None) or 1, getattr(error, "msg", None) or error))
            return None
        why = tests.wants_pytest(has_pytest)
    if why is None and not request["lone"] and request["source"] is None:
        django = django_of(os.path.abspath(path), os.path.realpath(request["copy"]), settings, has_pytest)
        if django is not None:
            return with_django(run, *django, tests, parts)
    has_conftest = any(os.path.basename(file) == "conftest.py" for file in settings)
    if request["source"] is not None:
        wants = has_conftest or any("doctest" in text_of(file) for file in settings)
    elif request["lone"]:
        wants = has_conftest or why is not None
    else:
        wants = run.is_suite or why is not None or bool(tests.tests()) or not tests.checks_when_loaded() and "check" not in tests.functions
    if why is not None and not has_pytest:
        run.missing = "%s, and %s does not have pytest: run `%s -m pip install pytest`" % (why, sys.executable, sys.executable)
        return None
    if wants and has_pytest:
        import pytest
        names = names_of(run, tests, request)
        return with_pytest(run, pytest, names, parts, settings)
    if request["source"] is not None:
        import doctest
        parts.look()
        try:
            module = module_of(path)
        except BaseException as error:
            run.complain(path, error)
            return None
        return run.look_again(parts, examples_in(run, module, {}))
    # Loaded before any code of the project, so that a part of it that is replaced later is noticed.
    import unittest
    if tests is None:
        return with_discovery(run, parts)
    parts.look()
    names = names_of(run, tests, request)
    if names is None:
        return None
    all_tests, result = with_library(run, tests, names)
    return run.look_again(parts, again_with(all_tests, result))


def names_of(run, tests, request):
    """The names that are given to the tests; `None` where the code cannot be loaded for them."""
    try:
        return names_for(tests, request) if tests is not None else {}
    except Undefined as error:
        run.complaints.append(str(error))
    except BaseException as error:
        run.complain(os.path.basename(request["file"]), error)
    return None


def examples_of_text(run, text):
    """The examples of a text that is no module."""
    import doctest
    go = example_runner(run)
    space = dict(vars(module_of(run.request["file"])))
    test = doctest.DocTestParser().get_doctest(text, space, os.path.basename(run.path), run.path, 0)
    if test.examples:
        go(test)
