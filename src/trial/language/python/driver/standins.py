# The judge's side of the line: stand-ins for what lives in the worker and cannot be copied.
#
# A stand-in never lets the worker decide a check. It equals itself; two objects of one class of the code's,
# which defines equality, are compared by copies of what they hold. What the tests call by name gives
# values. Operators are passed on between things of the code's, so that what the tests expect stays here; a
# class that only the code defines and the tests ask for by name may be combined with plain data, but gives
# no plain data from then on, unless the tests made the object themselves. Lengths and truths are taken once
# and have to agree with what is counted.
PAYLOADS = (int, float, complex, str, bytes, tuple, frozenset, list, dict, set)
ORDERED = ("__lt__", "__le__", "__gt__", "__ge__")
ARITHMETIC = tuple(prefix % name for prefix in ("__%s__", "__r%s__", "__i%s__") for name in
                   ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor", "or", "matmul"))
# The attributes with two underscores that can be read of things in the worker.
SEEN = frozenset(("__doc__", "__name__", "__module__", "__qualname__", "__members__", "__annotations__", "__version__", "__all__",
                  "__wrapped__", "__init__", "__post_init__", "__self__", "__func__", "__cause__", "__context__", "__notes__"))
# What plain data can be asked that tells it what is expected: all that neither a dictionary can do nor just
# puts something in.
TOLD = {name for kind in PAYLOADS for name in dir(kind)} - set(dir(dict)) - {"append", "extend", "insert", "add", "discard", "sort", "reverse"}
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
        line = class_dict(cls)["@line"]
        made = line.ask("call", cls, args, named)
        # What the tests do with it from now on is about this class, not about a result.
        return mark(made, "@made") if line.is_named(cls) and type(made) is cls else made

    def __getattr__(cls, name):
        return reach(cls, name)

    def __setattr__(cls, name, value):
        line_of(cls).ask("set", cls, name, value)

    def __iter__(cls):
        return items(cls)

    def __len__(cls):
        return once(cls, "__len__", int)

    def __bool__(cls):
        return True

    def __getitem__(cls, key):
        return line_of(cls).ask("do", "__getitem__", cls, key)

    def __contains__(cls, value):
        return contains(cls, value)


class Function:
    # A function that lives in the worker.
    __doc__ = property(lambda self: reach(self, "__doc__"))

    def __init__(self, line, number, name, waits, binds):
        self.__dict__.update({"@line": line, "@number": number, "__name__": name, "__qualname__": name, "@waits": waits, "@binds": binds})

    def __get__(self, owner, _cls=None):
        # A function that decorates a method of the tests is one.
        return types.MethodType(self, owner) if owner is not None and self.__dict__["@binds"] else self

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


def own_space(standin):
    return class_dict(standin) if isinstance(standin, StandInClass) else own_dict(standin, "__dict__")


def mark(standin, what):
    own_dict(standin, "__dict__")[what] = True
    return standin


def line_of(standin):
    return own_space(standin)["@line"]


def number_of(standin):
    return own_space(standin)["@number"]


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
    if name in TOLD and standin is not line.candidate and callable(value) and not line.is_named(owner):
        raise line.tampered("a `%s` object, which is no plain data, was asked for `%s`" % (class_name(owner), name))
    return value


def forward(name):
    """An operation that the worker is asked to do."""
    def operation(self, *more):
        return line_of(self).ask("do", name, self, *more)
    return operation


def plain(name, kind):
    """An operation that makes plain data of one class."""
    def operation(self, *more):
        if own_space(self).get("@told"):
            raise line_of(self).combined(self)
        return of_kind(kind, name, line_of(self).ask("do", name, self, *more))
    return operation


def of_kind(kind, name, value):
    if not isinstance(value, kind):
        raise TypeError("%s returned a %s" % (name, class_name(type(value))))
    return value if type(value) is kind or kind is object else kind(value)


def once(self, name, kind):
    """What a thing says of itself, asked again only after the tests have made the code do something."""
    line = line_of(self)
    if own_space(self).get("@told"):
        raise line.combined(self)
    known = line.said.get((number_of(self), name))
    if known is None or known[0] != line.version:
        known = line.version, of_kind(kind, name, line.ask("do", name, self))
        line.said[number_of(self), name] = known
    return known[1]


def agree(self, count):
    """Holds a number of items against what was said or counted of the same thing before."""
    line = line_of(self)
    known = line.said.get((number_of(self), "__len__"))
    if known is None or known[0] != line.version:
        line.said[number_of(self), "__len__"] = line.version, count
    elif known[1] != count:
        raise line.tampered("a `%s` object, which said that it has %d items, gave %d" % (class_name(type(self)), known[1], count))


def items(self):
    """The items of something in the worker, counted."""
    kind, given = type(self), forward("__iter__")(self)
    has_length = any("__len__" in class_dict(c) for c in class_mro(kind))
    if (given is self and not has_length) or not any("__next__" in class_dict(c) for c in class_mro(type(given))):
        return given
    if has_length:
        once(self, "__len__", int)
    return counted(self, given, line_of(self).version)


def counted(self, given, version):
    count, ended = 0, object()
    while True:
        item = next(given, ended)
        if item is ended:
            break
        count += 1
        yield item
    if line_of(self).version == version:
        agree(self, count)


def step(question):
    """One step of an iterator. Only here can the code say that an iteration ends."""
    def operation(self, *more):
        space, line = own_space(self), line_of(self)
        if "@ended" not in space:
            goes_on, value = pair_of(line.ask("step", question, self, *more))
            if goes_on is True:
                return value
            space["@ended"] = True
            raise StopIteration(value)
        raise StopIteration
    return operation


def pair_of(value):
    return value if type(value) in (list, tuple) and len(value) == 2 else wrong_step()


def wrong_step():
    raise TypeError("a step of an iterator gave something else")


def same(self, other):
    if self is other:
        return True
    line = line_of(self)
    if not is_standin(other):
        if class_dict(type(self))["@answers"] and not line.is_named(type(self)):
            raise line.tampered("a `%s` object, which defines its own comparison, was compared with plain data" % class_name(type(self)))
        return NotImplemented
    if type(self) is not type(other) or not class_dict(type(self))["@equals"]:
        return NotImplemented
    return line.equal(self, other)


def differs(self, other):
    value = same(self, other)
    return value if value is NotImplemented else not value


def hashed(self):
    return hash(class_name(type(self))) if class_dict(type(self))["@equals"] else object.__hash__(self)


def combine(name):
    """An operator. What is expected may be on its other side, unless that is the code's, too."""
    def operation(self, other, *more):
        line = line_of(self)
        if not is_standin(other) and not line.is_named(type(self)):
            raise line.combined(self)
        value = line.ask("do", name, self, other, *more)
        if own_dict(self, "__dict__").get("@made"):
            return mark(value, "@made") if type(value) is type(self) else value
        if not is_standin(other) or own_dict(self, "__dict__").get("@told") or own_space(other).get("@told"):
            if value is NotImplemented:
                return value
            if not is_standin(value) or not isinstance(type(value), StandInClass) or isinstance(value, PAYLOADS):
                raise line.combined(self)
            mark(value, "@told")
        return value
    return operation


def order(name):
    def operation(self, other):
        return forward(name)(self, other) is True if is_standin(other) else NotImplemented
    return operation


def contains(self, value):
    try:
        return any(value is item or value == item for item in iter(items(self)))
    except TypeError:
        raise line_of(self).tampered("a `%s` object, which has no items, was asked what it contains" % class_name(type(self)))


def called(self, *args, **named):
    return line_of(self).ask("call", self, args, named)


def wait(self):
    return awaited(lambda: line_of(self).ask("wait", self)).__await__()


def leaving(line, error, leave):
    """The end of a `with` block: a check that failed in it stays failed, and the code does not learn what was expected."""
    if not line.is_failure(error):
        return leave(error)
    try:
        leave(AssertionError())
    except Exception:
        pass
    return False


def leave_block(self, _kind, error, _trace):
    return leaving(line_of(self), error, lambda told: line_of(self).ask("do", "__exit__", self, told))


def wait_for(name):
    def operation(self, *more):
        line = line_of(self)
        if name == "__aexit__":
            return awaited(lambda: leaving(line, more[1], lambda told: line.ask("async", name, self, told)))
        return awaited(lambda: line.ask("async", name, self, *more))
    return operation


async def next_awaited(self):
    goes_on, value = pair_of(line_of(self).ask("step", "__anext__", self))
    if goes_on is not True:
        raise StopAsyncIteration
    return value


SPECIAL = {"__call__": called, "__exit__": leave_block, "__await__": wait, "__contains__": contains, "__iter__": items,
           "__bool__": lambda v: once(v, "__bool__", bool), "__len__": lambda v: once(v, "__len__", int), "__next__": step("__next__"),
           "__anext__": next_awaited, "__aenter__": wait_for("__aenter__"), "__aexit__": wait_for("__aexit__")}
SPECIAL.update((name, order(name)) for name in ORDERED)
SPECIAL.update((name, combine(name)) for name in ARITHMETIC)
SPECIAL.update((name, plain(name, kind)) for name, kind in (
    ("__str__", str), ("__repr__", str), ("__format__", str), ("__int__", int), ("__float__", float), ("__index__", int),
    ("__complex__", complex), ("__bytes__", bytes), ("__abs__", object), ("__round__", object), ("__trunc__", object), ("__floor__", object),
    ("__ceil__", object), ("__neg__", object), ("__pos__", object), ("__invert__", object)))
SPECIAL.update((name, forward(name)) for name in
               ("__reversed__", "__enter__", "__getitem__", "__setitem__", "__delitem__", "__aiter__", "__missing__"))
ALWAYS = {"__eq__": same, "__ne__": differs, "__hash__": hashed, "__str__": SPECIAL["__str__"], "__repr__": SPECIAL["__repr__"],
          "__format__": SPECIAL["__format__"]}
# What of its own a class may bring that derives from plain data. All that plain data can do is done here.
BESIDE_PLAIN = ("__call__", "__str__", "__repr__", "__enter__", "__exit__", "__missing__")
# What the worker may ask an object of the tests to do.
OFFERED = {"__len__": len, "__iter__": iter, "__next__": next, "__getitem__": operator.getitem, "__setitem__": operator.setitem,
           "__delitem__": operator.delitem, "__contains__": operator.contains, "__str__": str, "__repr__": repr, "__eq__": operator.eq,
           "__ne__": operator.ne, "__lt__": operator.lt, "__le__": operator.le, "__gt__": operator.gt, "__ge__": operator.ge,
           "__hash__": hash, "__bool__": bool, "__add__": operator.add, "__sub__": operator.sub, "__mul__": operator.mul,
           "__truediv__": operator.truediv, "__neg__": operator.neg, "__int__": int, "__float__": float, "__index__": operator.index,
           "__call__": lambda v, *args: v(*args), "__enter__": lambda v: type(v).__enter__(v),
           "__exit__": lambda v, e: type(v).__exit__(v, e if e is None else type(e), e, None)}
