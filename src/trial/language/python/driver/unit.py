# The driver: tests that unittest runs, those of Django among them.
from re import search


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
        examples_in(run, module)
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
    # Tests inside of a package import it relatively.
    top = os.path.abspath(run.path)
    while os.path.isfile(os.path.join(top, "__init__.py")):
        top = os.path.dirname(top)
    all_tests = each_of(unittest.defaultTestLoader.discover(run.path, "*test*.py", top))
    # A file that cannot be loaded is no test of the others. Where it is the code's fault, tests are missing.
    loaded = [test for test in all_tests if type(test).__module__ != "unittest.loader"]
    all_tests = [test for test in loaded or all_tests if not run.only or test.id() in run.only]
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
