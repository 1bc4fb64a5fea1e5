# The driver for one process: signs of interference. Replaced builtins and library functions, and objects that
# answer comparisons their own way.
#
# A class is trusted when it is built into the interpreter or found under its own name in a module that is not
# the candidate's. An object of any other class that brings its own comparison is fine next to another such
# object (a user's own `Point`), but not next to plain data, where it could claim to equal anything; unless
# the tests name that class, which makes it the user's own.
COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__bool__")
PLAIN = (int, float, complex, bool, str, bytes, bytearray, type(None), list, tuple, set, frozenset, dict, range)
SCALARS = frozenset((int, float, complex, bool, str, bytes, type(None)))


def is_callable_kind(value):
    return isinstance(value, (FunctionType, types.BuiltinFunctionType, type))


class Guard:
    """What must not change while the candidate runs, and what it may not return."""

    def __init__(self):
        self.builtins = dict(vars(builtins))
        self.watched = []
        self.candidate = None
        self.named = frozenset()

    def begin(self):
        pass

    def has_answered(self):
        return True

    def is_codes(self, thing):
        return False

    def has_raised(self):
        return True

    def watch(self, name):
        """Remembers the functions of a module that the tests lean on."""
        module = modules.get(name)
        spaces = [(name, vars(module))] if module is not None else []
        if name == "unittest" and module is not None:
            spaces += [("unittest.TestCase", class_dict(module.TestCase)), ("unittest.case", vars(modules["unittest.case"]))]
        for label, space in spaces:
            kept = {key: value for key, value in list(space.items()) if is_callable_kind(value)}
            self.watched.append((label, space, kept))

    def compare(self):
        """Ends the trial when something was replaced."""
        now = vars(builtins)
        for key, value in self.builtins.items():
            if key not in ("_", "__debug__") and now.get(key, self) is not value:
                raise End("tampered", "the code replaced the builtin `%s`" % key)
        for label, space, kept in self.watched:
            for key, value in kept.items():
                if space.get(key, self) is not value:
                    raise End("tampered", "the code replaced `%s.%s`" % (label, key))

    def is_foreign(self, cls):
        """Whether the class comes from the program under test and the tests do not name it."""
        if not class_flags(cls) & HEAP_TYPE:
            return False
        module = class_dict(cls).get("__module__")
        home = modules.get(module) if type(module) is str else None
        if type(home) is ModuleType and home is not self.candidate and vars(home).get(class_name(cls)) is cls:
            return False
        if type(home) is ModuleType and home is not self.candidate and "." in class_dict(cls).get("__qualname__", ""):
            return False
        return class_name(cls) not in self.named

    def answers_for_itself(self, value):
        """Whether the object's class is foreign and hand-writes a comparison (a dataclass's generated one is honest)."""
        for cls in class_mro(type(value)):
            if not self.is_foreign(cls):
                continue
            own = class_dict(cls)
            for name in COMPARISONS:
                if name not in own:
                    continue
                code = getattr(own[name], "__code__", None) if type(own[name]) is FunctionType else None
                if "__dataclass_fields__" in own and code is not None and code.co_filename != CANDIDATE:
                    continue
                return True
        return False

    def holds_such(self, value):
        """The class name of the first such object inside a value (a bounded walk without recursion), or None."""
        waiting, budget = [value], 2000
        while waiting and budget > 0:
            value = waiting.pop()
            kind = type(value)
            if kind in SCALARS:
                continue
            budget -= 1
            if kind in (list, tuple, set, frozenset):
                waiting.extend(list(value)[:budget])
            elif kind is dict:
                waiting.extend(list(value.keys())[:budget])
                waiting.extend(list(value.values())[:budget])
            elif self.answers_for_itself(value):
                return class_name(kind)
        return None

    def comparison(self, left, right):
        """Ends the trial when one side of a comparison answers for itself and the other side is plain."""
        one, other = self.holds_such(left), self.holds_such(right)
        if (one is None) != (other is None):
            raise End("tampered", "a `%s` object, which defines its own comparison, was compared with plain data" % (one or other))

    def result(self, value):
        """Ends the trial when a result is plain data in disguise: a foreign subclass of int, str, list, ... that compares its own way."""
        if type(value) in SCALARS:
            return
        for item in (value if type(value) in (list, tuple) else (value,))[:1000]:
            kind = type(item)
            if kind not in PLAIN and derives_from_plain(kind) and self.answers_for_itself(item):
                raise End("tampered", "the result is a `%s`, plain data that defines its own comparison" % class_name(kind))

    def wrap(self, function):
        """The function under test with its results looked at. Only plain functions are wrapped: others carry attributes."""
        if type(function) is not FunctionType:
            return function

        def wrapped(*args, **kwargs):
            value = function(*args, **kwargs)
            self.result(value)
            return value

        for name in ("__name__", "__qualname__", "__doc__", "__module__"):
            try:
                setattr(wrapped, name, getattr(function, name))
            except BaseException:
                pass
        wrapped.__dict__.update(function.__dict__)
        wrapped.__wrapped__ = function
        return wrapped


def derives_from_plain(kind):
    """Whether a class derives from plain data."""
    return any(base in PLAIN for base in class_mro(kind))
