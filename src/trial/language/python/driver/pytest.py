# The driver: tests that pytest runs.
from time import monotonic


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
                # Tests in files that speak of it come first, by its name and the words in it: others may take too long.
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
