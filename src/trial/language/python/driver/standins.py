# The judge's side of the line: stand-ins for what lives in the worker.
#
# A stand-in never lets the worker decide a check. What the worker is asked must not contain what the tests expect: a comparison with
# plain data is answered here, from plain data the worker sent before, or not at all. Where a class of the code wants to answer it
# itself, that is tampering, unless the tests name the class, which makes it the user's own.
PAYLOADS = (int, float, complex, str, bytes, tuple, frozenset, list, dict, set)
ORDERED = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
ARITHMETIC = tuple(prefix % name for prefix in ("__%s__", "__r%s__", "__i%s__") for name in
                   ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor", "or", "matmul"))
# Methods of plain data that are told what is expected and answer yes or no.
TELLING = frozenset(("startswith", "endswith", "issubset", "issuperset", "isdisjoint", "count", "index", "find"))
MUTATORS = ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse", "update", "setdefault", "popitem", "add", "discard",
            "__setitem__", "__delitem__", "__iadd__", "__ior__")
# Exceptions that would make a test runner look away.
EVASIVE = ("unittest", "pytest", "_pytest", "doctest", "driver")
VIEWS = ("dict_keys", "dict_items", "odict_keys", "odict_items")
# The attributes with two underscores that can be read of things in the worker.
SEEN = frozenset(("__doc__", "__name__", "__module__", "__qualname__", "__members__", "__annotations__", "__version__", "__all__",
                  "__wrapped__", "__init__", "__post_init__", "__self__", "__func__"))
set_own = object.__setattr__


class StandIn:
    """An object that lives in the worker."""

    def __getattr__(self, name):
        return reach(self, name)

    def __setattr__(self, name, value):
        if name.startswith("__"):
            return set_own(self, name, value)
        line_of(self).ask("set", self, name, value)

    def __delattr__(self, name):
        line_of(self).ask("del", self, name)

    def __dir__(self):
        return line_of(self).ask("dir", self)

    def __reduce_ex__(self, _protocol):
        raise TypeError("cannot pickle a `%s` object" % class_name(type(self)))

    def __copy__(self):
        return line_of(self).ask("do", "__copy__", self)

    def __deepcopy__(self, _memo):
        return line_of(self).ask("do", "__deepcopy__", self)


class StandInClass(type):
    """A class that lives in the worker."""

    def __call__(cls, *args, **named):
        if "@line" not in class_dict(cls):
            return type.__call__(cls, *args, **named)
        return class_dict(cls)["@line"].ask("call", cls, args, named)

    def __getattr__(cls, name):
        return reach(cls, name)

    def __setattr__(cls, name, value):
        line_of(cls).ask("set", cls, name, value)

    def __iter__(cls):
        return line_of(cls).ask("do", "__iter__", cls)

    def __len__(cls):
        return line_of(cls).ask("do", "__len__", cls)

    def __bool__(cls):
        return True

    def __getitem__(cls, key):
        return line_of(cls).ask("do", "__getitem__", cls, key)

    def __contains__(cls, value):
        if not is_standin(value) and not line_of(cls).is_named(cls):
            raise line_of(cls).tampered("the class `%s` was asked whether it contains plain data" % class_name(cls))
        return line_of(cls).ask("do", "__contains__", cls, value) is True


class Function:
    # A function that lives in the worker.
    __doc__ = property(lambda self: reach(self, "__doc__"))

    def __init__(self, line, number, name, waits):
        self.__dict__.update({"@line": line, "@number": number, "__name__": name, "__qualname__": name, "@waits": waits})

    def __call__(self, *args, **named):
        line = line_of(self)
        if self.__dict__["@waits"]:
            return awaited(lambda: line.ask("await", self, args, named))
        return line.ask("call", self, args, named)

    def __getattr__(self, name):
        return reach(self, name)

    def __setattr__(self, name, value):
        line_of(self).ask("set", self, name, value)

    def __repr__(self):
        return "<function %s>" % self.__dict__["__name__"]

    def __deepcopy__(self, _memo):
        return self


class Module(ModuleType):
    # A module that lives in the worker.
    __doc__ = property(lambda self: reach(self, "__doc__"))

    def __getattr__(self, name):
        return reach(self, name)

    def __setattr__(self, name, value):
        if name.startswith("__"):
            return ModuleType.__setattr__(self, name, value)
        line_of(self).ask("set", self, name, value)

    def __delattr__(self, name):
        line_of(self).ask("del", self, name)


async def awaited(action):
    return action()


def line_of(standin):
    return (class_dict(standin) if isinstance(standin, StandInClass) else own_dict(standin, "__dict__"))["@line"]


def number_of(standin):
    return (class_dict(standin) if isinstance(standin, StandInClass) else own_dict(standin, "__dict__"))["@number"]


def is_standin(value):
    kind = type(value)
    return isinstance(kind, StandInClass) or kind in (Function, Module) or (issubclass(kind, StandInClass) and "@line" in class_dict(value))


def reach(standin, name):
    """An attribute of something in the worker."""
    line, kind = line_of(standin), type(standin)
    if name.startswith("__") and name not in SEEN:
        raise AttributeError("'%s' object has no attribute '%s'" % (class_name(kind), name))
    value = line.ask("get", standin, name)
    owner = standin if kind is StandInClass else kind
    if name in TELLING and standin is not line.candidate and callable(value) and not line.is_named(owner):
        raise line.tampered("a `%s` object, which is no plain data, was asked for `%s`" % (class_name(owner), name))
    return value


def forward(name):
    """An operation that the worker is asked to do."""
    def operation(self, *more):
        return line_of(self).ask("do", name, self, *more)
    return operation


def compare(name):
    def comparison(self, other):
        line = line_of(self)
        if class_name(type(self)) in VIEWS and isinstance(other, (set, frozenset)):
            return class_dict(set)[name](set(self), other)
        if is_standin(other) or line.is_named(type(self)):
            return line.ask("do", name, self, other) is True
        cls = line.who_answers(type(self))
        if cls is not None:
            raise line.tampered("a `%s` object, which defines its own comparison, was compared with plain data" % cls)
        return NotImplemented
    return comparison


def arithmetic(name):
    def operation(self, other, *more):
        line = line_of(self)
        if is_standin(other) or line.is_named(type(self)):
            return line.ask("do", name, self, other, *more)
        raise line.tampered("a `%s` object, which does its own arithmetic, was combined with plain data" % class_name(type(self)))
    return operation


def contains(self, value):
    line = line_of(self)
    if is_standin(value) or line.is_named(type(self)):
        return line.ask("do", "__contains__", self, value) is True
    cls = line.who_answers(type(self))
    if cls is not None:
        raise line.tampered("a `%s` object, which defines its own comparison, was compared with plain data" % cls)
    return any(value is item or value == item for item in iter(self))


def exact(name, kind):
    """An operation whose answer has to be of one plain class."""
    def operation(self, *more):
        value = line_of(self).ask("do", name, self, *more)
        return value if type(value) is kind else kind(value) if isinstance(value, kind) else wrong(name, value)
    return operation


def wrong(name, value):
    raise TypeError("%s returned a %s" % (name, class_name(type(value))))


def called(self, *args, **named):
    return line_of(self).ask("call", self, args, named)


def wait(self):
    return awaited(lambda: line_of(self).ask("wait", self)).__await__()


def leave_block(self, _kind, error, _trace):
    return line_of(self).ask("do", "__exit__", self, error)


def wait_for(name):
    def operation(self, *more):
        more = more[1:2] if name == "__aexit__" else more
        return awaited(lambda: line_of(self).ask("async", name, self, *more))
    return operation


class Replaced:
    """A method or attribute that a class in the worker puts in the place of a plain one."""

    def __init__(self, name):
        self.name = name

    def __get__(self, value, cls=None):
        return line_of(cls if value is None else value).ask("get", cls if value is None else value, self.name)


SPECIAL = {"__call__": called, "__exit__": leave_block, "__await__": wait, "__contains__": contains, "__bool__": exact("__bool__", bool),
           "__len__": exact("__len__", int), "__hash__": exact("__hash__", int), "__str__": exact("__str__", str),
           "__repr__": exact("__repr__", str), "__format__": exact("__format__", str), "__int__": exact("__int__", int),
           "__float__": exact("__float__", float), "__index__": exact("__index__", int), "__anext__": wait_for("__anext__"),
           "__aenter__": wait_for("__aenter__"), "__aexit__": wait_for("__aexit__")}
SPECIAL.update((name, compare(name)) for name in ORDERED)
SPECIAL.update((name, arithmetic(name)) for name in ARITHMETIC)
ALWAYS = ("__eq__", "__ne__", "__hash__", "__str__", "__repr__", "__format__")
PASSED_ON = frozenset(("__iter__", "__next__", "__complex__", "__abs__", "__neg__", "__pos__", "__invert__", "__reversed__", "__round__",
                       "__enter__", "__trunc__", "__floor__", "__ceil__", "__getitem__", "__setitem__", "__delitem__",
                       "__bytes__", "__aiter__"))
# What the worker may ask an object of the tests to do.
OFFERED = {"__len__": len, "__iter__": iter, "__next__": next, "__getitem__": operator.getitem, "__setitem__": operator.setitem,
           "__delitem__": operator.delitem, "__contains__": operator.contains, "__str__": str, "__repr__": repr, "__eq__": operator.eq,
           "__ne__": operator.ne, "__lt__": operator.lt, "__le__": operator.le, "__gt__": operator.gt, "__ge__": operator.ge,
           "__hash__": hash, "__bool__": bool, "__add__": operator.add, "__sub__": operator.sub, "__mul__": operator.mul,
           "__truediv__": operator.truediv, "__neg__": operator.neg, "__int__": int, "__float__": float, "__index__": operator.index,
           "__call__": lambda v, *args: v(*args), "__enter__": lambda v: type(v).__enter__(v),
           "__exit__": lambda v, e: type(v).__exit__(v, e if e is None else type(e), e, None)}
