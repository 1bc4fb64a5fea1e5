# The driver: as much of pytest as a tests file alone needs, so that it is judged the same whether pytest is
# installed or not.
OFFERED_NAMES = ("fixture", "mark", "param", "raises", "approx", "fail", "skip", "xfail", "importorskip", "warns", "main", "yield_fixture")


class Failed(AssertionError):
    """A check of pytest's own failed."""


class Skipped(BaseException):
    """A test skips itself."""


class XFailed(BaseException):
    """A test says that it is known to fail."""


Failed.__module__ = Skipped.__module__ = XFailed.__module__ = "pytest"


class Mark:
    """`pytest.mark.NAME`, plain or called."""

    def __init__(self, name, args=(), kwargs=None, values=None):
        self.name, self.args, self.kwargs = name, args, kwargs or {}

    def __call__(self, *args, **named):
        if len(args) == 1 and not named and isinstance(args[0], (type,) + tuple(FUNCTION_KINDS)):
            marks = vars(args[0]).get("pytestmark", [])
            args[0].pytestmark = (marks if isinstance(marks, list) else [marks]) + [self]
            return args[0]
        return Mark(self.name, self.args + args, dict(self.kwargs, **named))


class Marks:
    def __getattr__(self, name):
        return Mark(name)


class ParameterSet:
    def __init__(self, values, marks):
        self.values, self.marks = values, list(marks) if isinstance(marks, (list, tuple)) else [marks]


class Fixture:
    """A fixture of the tests file."""

    def __init__(self, function, scope, params, autouse, name):
        self.function, self.scope, self.params, self.autouse = function, scope, params, autouse
        self.name, self.__name__, self.__doc__ = name or function.__name__, function.__name__, function.__doc__


def fixture(function=None, *, scope="function", params=None, autouse=False, ids=None, name=None):
    def make(function):
        return Fixture(function, scope if isinstance(scope, str) else "function", params, autouse, name)
    return make if function is None else make(function)


class Raised:
    """What `raises` caught."""

    def __init__(self):
        self.value = self.type = self.tb = None

    @property
    def typename(self):
        return self.type.__name__

    def match(self, pattern):
        import re
        if not re.search(pattern, str(self.value)):
            raise Failed("pattern %r not found in %r" % (pattern, str(self.value)))
        return True

    def exconly(self):
        return show_error(self.value)


class Raises:
    def __init__(self, expected, match=None):
        self.expected, self.pattern, self.caught = expected, match, Raised()

    def __enter__(self):
        return self.caught

    def __exit__(self, kind, error, trace):
        if error is None:
            names = [getattr(e, "__name__", str(e)) for e in (self.expected if isinstance(self.expected, tuple) else (self.expected,))]
            raise Failed("DID NOT RAISE %s" % " or ".join(names))
        if isinstance(error, End) or not issubclass(kind, self.expected):
            return False
        self.caught.value, self.caught.type, self.caught.tb = error, kind, trace
        if self.pattern is not None:
            self.caught.match(self.pattern)
        return True


def raises(expected, *args, match=None, **named):
    if not args:
        return Raises(expected, match)
    caught = Raises(expected)
    with caught as found:
        args[0](*args[1:], **named)
    return found


class Warns:
    def __init__(self, expected, match):
        self.expected, self.pattern = expected, match

    def __enter__(self):
        import warnings
        self.recorder = warnings.catch_warnings(record=True)
        self.found = self.recorder.__enter__()
        warnings.simplefilter("always")
        return self.found

    def __exit__(self, kind, error, trace):
        import re
        self.recorder.__exit__(kind, error, trace)
        if error is None and not any(issubclass(w.category, self.expected) and re.search(self.pattern or "", str(w.message)) for w in self.found):
            raise Failed("DID NOT WARN")


class Approx:
    """A number, or numbers in a list or dictionary, within a tolerance."""
    __hash__, __array_ufunc__ = None, None

    def __init__(self, expected, rel, abs, nan_ok):
        self.expected, self.rel, self.abs, self.nan_ok = expected, rel, abs, nan_ok

    def __repr__(self):
        return "approx(%s)" % show(self.expected)

    def __eq__(self, actual):
        expected = self.expected.tolist() if hasattr(self.expected, "tolist") else self.expected
        actual = actual.tolist() if hasattr(actual, "tolist") and hasattr(actual, "shape") else actual
        if isinstance(expected, dict):
            return isinstance(actual, dict) and expected.keys() == actual.keys() and all(self.near(expected[k], actual[k]) for k in expected)
        if isinstance(expected, (list, tuple)):
            return isinstance(actual, (list, tuple)) and len(actual) == len(expected) and all(map(self.near, expected, actual))
        return self.near(expected, actual)

    def __ne__(self, actual):
        return not self == actual

    def near(self, expected, actual):
        if isinstance(expected, (list, tuple, dict)):
            return Approx(expected, self.rel, self.abs, self.nan_ok) == actual
        if isinstance(expected, (bool, str, bytes, type(None))) or isinstance(actual, (str, bytes, type(None))) or not hasattr(actual, "__abs__"):
            return bool(expected == actual)
        if not any(class_module(c) in ("builtins", "decimal", "fractions", "numpy") for c in class_mro(type(actual))[:-1]):
            return bool(expected == actual)
        if expected == actual:
            return True
        if expected != expected or actual != actual:
            return self.nan_ok and expected != expected and actual != actual
        if abs(expected) == float("inf") or abs(actual) == float("inf"):
            return False
        number = type(expected) if class_name(type(expected)) == "Decimal" else float
        least = number("1e-12") if self.abs is None and number is not float else 1e-12 if self.abs is None else self.abs
        share = 0 if self.rel is None and self.abs is not None else number("1e-6") if self.rel is None else self.rel
        return abs(expected - actual) <= max(least, share * abs(expected))


class Stop:
    """A function that raises one error with a reason."""

    def __init__(self, error):
        self.Exception = error

    def __call__(self, reason="", **_named):
        raise self.Exception(reason)


def importorskip(name, *_args, **_named):
    try:
        __import__(name)
        return modules[name]
    except ImportError:
        raise Skipped(name)


def make_pytest():
    """The module that the tests import."""
    made = ModuleType("pytest")
    vars(made).update(
        fixture=fixture, yield_fixture=fixture, mark=Marks(), raises=raises, fail=Stop(Failed), skip=Stop(Skipped), xfail=Stop(XFailed),
        importorskip=importorskip, main=lambda *_args, **_named: 0, warns=lambda expected=Warning, match=None: Warns(expected, match),
        param=lambda *values, marks=(), id=None: ParameterSet(values, marks), __version__="8.0",
        approx=lambda expected, rel=None, abs=None, nan_ok=False: Approx(expected, rel, abs, nan_ok),
        Failed=Failed, Skipped=Skipped, XFailed=XFailed)
    return made


class Captured:
    """`capsys`."""

    def __init__(self):
        self.before = sys.stdout, sys.stderr
        self.start()

    def start(self):
        sys.stdout, sys.stderr = StringIO(), StringIO()

    def readouterr(self):
        import collections
        said = sys.stdout.getvalue(), sys.stderr.getvalue()
        self.start()
        return collections.namedtuple("CaptureResult", "out err")(*said)

    def stop(self):
        sys.stdout, sys.stderr = self.before


class Patches:
    """`monkeypatch`."""

    def __init__(self):
        self.undone = []

    def setattr(self, target, name, *value, raising=True):
        if isinstance(target, str):
            home, _, last = target.rpartition(".")
            target, name, value = __import__(home, fromlist=["_"]), last, (name,)
        if raising or hasattr(target, name):
            before = class_dict(target)[name] if isinstance(target, type) and name in class_dict(target) else getattr(target, name)
            self.undone.append(lambda: setattr(target, name, before))
        else:
            self.undone.append(lambda: delattr(target, name))
        setattr(target, name, value[0])

    def delattr(self, target, name, raising=True):
        if raising or hasattr(target, name):
            before = getattr(target, name)
            self.undone.append(lambda: setattr(target, name, before))
            delattr(target, name)

    def setitem(self, target, key, value):
        had, before = key in target, target.get(key)
        self.undone.append(lambda: target.__setitem__(key, before) if had else target.pop(key, None))
        target[key] = value

    def delitem(self, target, key, raising=True):
        if raising or key in target:
            before = target.pop(key)
            self.undone.append(lambda: target.__setitem__(key, before))

    def setenv(self, name, value, prepend=None):
        self.setitem(os.environ, name, value + prepend + os.environ[name] if prepend and name in os.environ else str(value))

    def delenv(self, name, raising=True):
        self.delitem(os.environ, name, raising)

    def chdir(self, path):
        before = os.getcwd()
        self.undone.append(lambda: os.chdir(before))
        os.chdir(path)

    def syspath_prepend(self, path):
        self.undone.append(lambda: sys.path.remove(str(path)))
        sys.path.insert(0, str(path))

    def undo(self):
        while self.undone:
            self.undone.pop()()


def new_folder():
    import pathlib
    import tempfile
    return pathlib.Path(tempfile.mkdtemp())


class Factory:
    """`tmp_path_factory`."""

    def mktemp(self, name, numbered=True):
        made = new_folder() / name
        made.mkdir()
        return made

    def getbasetemp(self):
        return new_folder()


class Request:
    """`request`."""

    def __init__(self, fixtures, instance, param=None):
        self.fixtures, self.instance, self.cls, self.ends = fixtures, instance, type(instance) if instance is not None else None, []
        if param is not None:
            self.param = param[0]

    def getfixturevalue(self, name):
        return self.fixtures.value(name, self.instance)

    def addfinalizer(self, end):
        self.ends.append(end)


class Fixtures:
    """The values of fixtures and what ends them; those of wider scopes live `above`."""

    def __init__(self, known, above=None, params=None):
        self.known, self.above, self.params = known, above, params or {}
        self.values, self.ends = {}, []

    def value(self, name, instance):
        known, home = self.known.get(name), self
        if known is not None and known.scope != "function" and name not in self.params and self.above is not None:
            home = self.above
            while known.scope != "class" and home.above is not None:
                home = home.above
        if name not in home.values:
            home.values[name] = home.make(name, known, instance)
        return home.values[name]

    def make(self, name, known, instance):
        if known is None:
            return self.built_in(name, instance)
        param = (self.params[name],) if name in self.params else None
        request = Request(self, instance, param)
        wanted = [n for n in parameters(known.function) if n != "self"]
        given = {n: request if n == "request" else self.value(n, instance) for n in wanted}
        arguments = (instance,) if parameters(known.function)[:1] == ["self"] else ()
        made = known.function(*arguments, **given)
        self.ends.extend(reversed(request.ends))
        if type(made) is types.GeneratorType:
            self.ends.append(lambda rest=made: next(rest, None))
            return next(made)
        if type(made) is types.AsyncGeneratorType:
            raise End("error", "the fixture `%s` is an async generator, which is not supported here" % name)
        return finish(made)

    def built_in(self, name, instance):
        if name == "tmp_path":
            return new_folder()
        if name == "tmp_path_factory":
            return Factory()
        if name == "capsys":
            made = Captured()
            self.ends.append(made.stop)
            return made
        if name == "monkeypatch":
            made = Patches()
            self.ends.append(made.undo)
            return made
        if name == "request":
            return Request(self, instance)
        raise LookupError(name)

    def close(self):
        while self.ends:
            self.ends.pop()()


BUILT_IN = ("tmp_path", "tmp_path_factory", "capsys", "monkeypatch", "request")


def parameters(function):
    """The names of the parameters that a function needs."""
    function = getattr(function, "__func__", function)
    while hasattr(function, "__wrapped__") and not hasattr(function, "patchings") and type(function) is FunctionType:
        function = function.__wrapped__
    if type(function) is not FunctionType:
        return []
    code = function.__code__
    needed = code.co_argcount - len(function.__defaults__ or ())
    only = code.co_varnames[code.co_argcount:code.co_argcount + code.co_kwonlyargcount]
    return list(code.co_varnames[:needed]) + [n for n in only if n not in (function.__kwdefaults__ or {})]


def marks_of(*things):
    """The marks of a function, its class and its module."""
    found = []
    for thing in things:
        marks = getattr(thing, "pytestmark", []) if not isinstance(thing, ModuleType) else vars(thing).get("pytestmark", [])
        found.extend(marks if isinstance(marks, (list, tuple)) else [marks])
    return found


class Case:
    """One run of a test: its arguments, the parameters of fixtures, and its marks."""

    def __init__(self, values=None, indirect=None, marks=()):
        self.values, self.indirect, self.marks = values or {}, indirect or {}, list(marks)

    def and_(self, other):
        return Case(dict(self.values, **other.values), dict(self.indirect, **other.indirect), self.marks + other.marks)


def cases_of(marks, known, wanted, label, file_name):
    """The runs of a test function: those of `parametrize`, and of the fixtures with parameters that it uses."""
    cases = [Case(marks=[m for m in marks if getattr(m, "name", "") != "parametrize"])]
    for mark in marks:
        if getattr(mark, "name", "") != "parametrize":
            continue
        names, rows = (list(mark.args) + [mark.kwargs[n] for n in ("argnames", "argvalues") if n in mark.kwargs])[:2]
        names = [n.strip() for n in names.split(",") if n.strip()] if isinstance(names, str) else list(names)
        indirect = mark.kwargs.get("indirect", False)
        indirect = names if indirect is True else indirect or ()
        found = []
        for row in rows:
            is_set = type(row).__name__ == "ParameterSet"
            own, row = (list(row.marks), row.values) if is_set else ([], row)
            row = [row] if len(names) == 1 and not is_set else list(row)
            if len(row) != len(names):
                raise End("error", "%s in %s: parametrize names %d arguments and gives %d" % (label, file_name, len(names), len(row)))
            given = dict(zip(names, row))
            found.append(Case({n: v for n, v in given.items() if n not in indirect}, {n: given[n] for n in indirect}, own))
        cases = [case.and_(more) for more in found for case in cases]
    for name in needed_fixtures(known, wanted):
        if known[name].params is not None and not any(name in case.indirect or name in case.values for case in cases):
            rows = [(p.values[0], p.marks) if type(p).__name__ == "ParameterSet" else (p, []) for p in known[name].params]
            cases = [case.and_(Case({}, {name: value}, marks)) for value, marks in rows for case in cases]
    return cases


def needed_fixtures(known, wanted):
    """The fixtures that these names lead to, each once."""
    found, waiting = [], list(wanted)
    while waiting:
        name = waiting.pop(0)
        if name in known and name not in found:
            found.append(name)
            waiting.extend(parameters(known[name].function))
    return found


def holds_here(mark):
    """Whether a `skipif` or `xfail` applies."""
    conditions = [c for c in mark.args if not isinstance(c, str)] + [c for k, c in mark.kwargs.items() if k == "condition"]
    return all(conditions)


def is_skipped(marks):
    return any(m.name == "skip" or (m.name == "skipif" and holds_here(m)) for m in marks if hasattr(m, "name"))


def call_with(function, *arguments):
    """Calls a function of the tests that may take fewer arguments."""
    if function is None:
        return None
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    room = code.co_argcount - hasattr(function, "__func__") if code is not None else 0
    return function(*arguments[:room])
