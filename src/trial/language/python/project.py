# Runs the tests of a project inside the sandbox: with pytest where it is installed, else with unittest.
# Reports each test by name.
import json
import os
import sys


def main():
    leave, write, dumps = os._exit, os.write, json.dumps
    request_fd, record_fd = map(int, sys.argv[-2:])
    with open(request_fd, "rb", closefd=False) as pipe:
        request = json.loads(pipe.read())
    nonce, path = request["nonce"], request["tests"]
    tests, complaints = {}, []

    def short(text):
        return " ".join(str(text).split())[:300]

    def report():
        shown, told = [], 0
        for name, (outcome, message) in tests.items():
            told += bool(message)
            shown.append([name, outcome, message if told <= 20 else ""])
        line = dumps({"nonce": nonce, "tests": shown, "complaint": short(complaints[0]) if complaints else ""})
        data = line.encode() + b"\n"
        while data:
            data = data[write(record_fd, data):]
        sys.stdout.flush()
        sys.stderr.flush()
        leave(0)

    class Plugin:
        def pytest_runtest_logreport(self, report):
            known = tests.get(report.nodeid)
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                message = short(crash.message.split("\n")[0]) if crash else short(report.longrepr)
                if crash:
                    message += " (%s:%s)" % (os.path.basename(crash.path), crash.lineno)
                tests[report.nodeid] = ("failed", message)
            elif report.skipped:
                outcome = "passed" if hasattr(report, "wasxfail") else "skipped"
                tests[report.nodeid] = known or (outcome, "")
            elif report.when == "call":
                tests[report.nodeid] = known or ("passed", "")

        def pytest_collectreport(self, report):
            if report.failed:
                crash = getattr(report.longrepr, "reprcrash", None)
                lines = str(crash.message if crash else report.longrepr).strip().split("\n")
                errors = [line for line in lines if line.startswith("E  ")] or lines
                complaints.append("%s: %s" % (report.nodeid, errors[-1].lstrip("E ")))

    def with_unittest(unittest):
        import importlib.util

        class Result(unittest.TestResult):
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

        parts = os.path.splitext(path)[0].split(os.sep)
        spec = importlib.util.spec_from_file_location(parts[-1], path)
        if os.path.exists(os.path.join(os.path.dirname(path), "__init__.py")):
            spec = importlib.util.spec_from_file_location(".".join(parts), path)
            __import__(".".join(parts[:-1]))
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            complaints.append("%s: %s: %s" % (path, type(error).__name__, error))
            report()
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        for name, value in list(vars(module).items()):
            if name.startswith("test") and type(value) is type(main) and value.__code__.co_argcount == 0:
                suite.addTest(unittest.FunctionTestCase(value, description=name))
        suite.run(Result())

    sys.argv[:] = ["tests"]
    here = os.getcwd()
    sys.path[:] = [here, os.path.join(here, "src")] + [p for p in sys.path if p]
    write(record_fd, b"started\n")
    try:
        import pytest
    except ImportError:
        import unittest

        with_unittest(unittest)
    else:
        options = ["-q", "--no-header", "-p", "no:cacheprovider", "--color=no"]
        code = pytest.main(options + [path], plugins=[Plugin()])
        if int(code) not in (0, 1) and not complaints:
            words = {2: "it was interrupted", 3: "it failed by itself", 4: "its options cannot be used"}
            if int(code) in words:
                complaints.append("pytest did not run the tests: " + words[int(code)])
    report()


main()
