# The driver: runs the tests of a project inside the sandbox, with pytest if tests or project require it, else
# with unittest and doctest. Reports each test by name.
from time import sleep
from _thread import allocate_lock, start_new_thread

# Time limit in seconds for tests of a function that returns nothing.
AGAIN = 3


class Undefined(AttributeError):
    """The function under test is not in the code."""


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
        # In one piece, or not at all: it names the test that does not end. A forked copy of this process must not
        # write behind the report.
        if os.getpid() == self.pid:
            write(self.record_fd, b"began %s\n" % dumps(test[:300]).encode())
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
        if self.request["threads"] == "look":
            names["held"] = has_threads()
        # A failure is known, whatever the process would still wait for.
        waits = self.request["threads"] == "wait" and not self.complaints and all(end != "failed" for end, _ in self.tests.values())
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
            threading = sys.modules.get("threading") if waits else None
            if threading is not None:
                # As the interpreter does at its end: it waits for threads that are no daemons.
                threading._shutdown()
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


def has_threads():
    """True if threads go on that the interpreter waits for at its end; those of a pool it ends itself."""
    try:
        threading = sys.modules["threading"]
        pools = getattr(sys.modules.get("concurrent.futures.thread"), "_threads_queues", ())
        threads = [thread for thread in threading.enumerate() if thread is not threading.main_thread()]
        return any(not thread.daemon and thread not in pools for thread in threads)
    except BaseException:
        return False


def settings_above(path, top, names):
    """The files in which a project may say how its tests run, from the folder of the tests up to the top."""
    folder = os.path.realpath(path if os.path.isdir(path) else os.path.dirname(path) or ".")
    while folder == top or folder.startswith(top + os.sep):
        for name in names:
            file = os.path.join(folder, name)
            if os.path.isfile(file):
                yield file
        folder = os.path.dirname(folder)


def is_of_pytest(path):
    """True for a file with settings of pytest."""
    return "pytest" in os.path.basename(path) or any(part in text_of(path) for part in ("[tool.pytest", "[pytest]", "[tool:pytest]"))


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


def main():
    request_fd, record_fd = map(int, sys.argv[1:3])
    request = request_of(request_fd)
    sys.argv[:] = ["tests"]
    run = Run(request, request_fd, record_fd)
    parts = Parts()
    path = run.path
    here = enter(request)
    # Programs that the tests start find it, too.
    run.stand_in = StandIn(path) if request["records_calls"] else None
    settings = list(settings_above(path, here, request["settings"]))
    write(record_fd, b"started\n")
    try:
        run_all(run, parts, settings)
    except BaseException as error:
        run.complain(path, error)
    run.report(parts)


def run_all(run, parts, settings):
    request, path = run.request, run.path
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
        # Pytest does not read `load_tests`; a project with settings of pytest goes without it.
        is_unittests = tests is not None and tests.loads_tests() and not has_conftest and why is None and not any(map(is_of_pytest, settings))
        has_tests = run.is_suite or why is not None or bool(tests.tests()) or not tests.checks_when_loaded() and "check" not in tests.functions
        wants = has_tests and not is_unittests
    if why is not None and not has_pytest:
        run.missing = "%s, and %s does not have pytest: run `%s -m pip install pytest`" % (why, sys.executable, sys.executable)
        return None
    if wants and has_pytest:
        import pytest
        names = names_of(run, tests)
        return with_pytest(run, pytest, names, parts, settings)
    if request["source"] is not None:
        import doctest
        parts.look()
        try:
            module = module_of(path)
        except BaseException as error:
            run.complain(path, error)
            return None
        return run.look_again(parts, examples_in(run, module))
    # Loaded before any code of the project, so that a part of it that is replaced later is noticed.
    import unittest
    if tests is None:
        return with_discovery(run, parts)
    parts.look()
    names = names_of(run, tests)
    if names is None:
        return None
    all_tests, result = with_library(run, tests, names)
    return run.look_again(parts, again_with(all_tests, result))


def names_of(run, tests):
    """The names that are given to the tests; `None` where the code cannot be loaded for them."""
    try:
        return names_for(tests, run.request) if tests is not None else {}
    except Undefined as error:
        run.complaints.append(str(error))
    except BaseException as error:
        run.complain(os.path.basename(run.request["file"]), error)
    return None
