# The judge's end of the line: what it carries to the worker, what it makes of what comes back, and what the
# worker may ask for.
ITERATORS = (types.GeneratorType, type(iter([])), type(iter(())), type(iter({})), type(iter(range(0))), type(iter(set())), map, filter, zip,
             enumerate, reversed)
HOME = "tests_of_the_candidate"
CALLABLES = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodDescriptorType, types.MethodWrapperType,
             types.WrapperDescriptorType)
CALLED = ("functools.partial", "functools._lru_cache_wrapper", "operator.itemgetter", "operator.attrgetter", "operator.methodcaller")
# Modules with errors that would make a test runner look away.
FRAMEWORKS = ("unittest", "pytest", "_pytest", "doctest", "driver", "asyncio", "concurrent")
# Errors that end an iteration, silently.
ENDINGS = (StopIteration, StopAsyncIteration, GeneratorExit)
# Questions that make the code do nothing which the tests asked for.
CHANGING = frozenset(("__getitem__", "__setitem__", "__delitem__", "__missing__", "__enter__", "__exit__")
                     + tuple(n for n in ARITHMETIC if n.startswith("__i")))
QUIET = ("describe", "state", "step", "do", "get", "dir", "own", "load")


def frames(error):
    """The files of the frames that an error came through."""
    found, trace = [], error.__traceback__
    while trace is not None:
        found.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    return found


class Fair:
    """Takes the place of the guard of one-process trials: here the stand-ins themselves see to it."""

    def __init__(self):
        self.named = frozenset()
        self.line, self.mark = None, 0

    def begin(self):
        """A test begins: only what the code says from now on makes its checks count."""
        self.mark = self.line.answers

    def has_answered(self):
        return self.line.answers > self.mark

    def is_codes(self, thing):
        """Whether a thing is the code's and no plain data: two of them say nothing about each other."""
        return is_standin(thing) and not isinstance(thing, PAYLOADS)

    def has_raised(self):
        return self.line.has_raised

    def watch(self, name):
        pass

    def compare(self):
        if self.line is not None and self.line.broken is not None:
            raise self.line.broken

    def comparison(self, left, right):
        pass

    def result(self, value):
        pass

    def wrap(self, function):
        return function

    def holds_such(self, value):
        kind = type(value)
        if isinstance(kind, StandInClass) and class_dict(kind).get("@answers") and not self.line.is_named(kind):
            return class_name(kind)
        return None


class Line(Peer):
    """The judge's end."""

    def __init__(self, reading, writing, fair):
        Peer.__init__(self, reading, writing)
        self.fair, self.known, self.offered, self.offers = fair, {}, [], {}
        self.candidate, self.judge, self.coroutines = None, None, {}
        # What was said of things in the worker, and how often it was made to do something since.
        self.said, self.version, self.answers = {}, 0, 0
        self.given, self.comparing, self.has_raised = [], set(), False
        fair.line = self
        self.is_strict = True
        self.sends = LARGEST_SENT
        self.questions = {"call": self.call_offered, "get": self.get_offered, "set": self.set_offered, "do": self.do_offered}

    def fault(self, fault):
        if isinstance(fault, Gone):
            return End("gone", "the code ended before the tests were done")
        return End("tampered", "the code wrote to the line between it and the tests")

    def unfit(self, error):
        """The tests pass something that cannot travel: only one process will do. What the code returns never leads here."""
        self.broken = End("shared", str(error))
        raise self.broken

    def cut(self):
        return End("failed", "the code did not answer in time")

    def tampered(self, message):
        """The end of the trial, also when the tests swallow it."""
        self.broken = End("tampered", message)
        return self.broken

    def is_of_tests(self, module):
        """Whether a module is the tests' own, which only this side has."""
        return module == HOME

    def more(self, codec):
        return []

    def take_more(self, codec, more):
        said, mirrored = more
        for change in mirrored:
            mirror = self.known[natural(change[0])]
            if isinstance(mirror, CHANGEABLE):
                refill(mirror, codec.all(change, 1, 0))
        if text(said):
            sys.stdout.write(said)

    def is_named(self, cls):
        return class_name(cls) in self.fair.named

    def combined(self, thing):
        return self.tampered("a `%s` object, which does its own arithmetic, was combined with plain data" % class_name(type(thing)))

    def ask(self, question, *parts):
        before, raised = len(self.given), None
        self.answers, self.has_raised = self.answers + 1, False
        if question == "call":
            self.given += [part for part in parts[1] if isinstance(part, AssertionError) and self.is_failure(part)]
        if question not in QUIET or (question == "do" and parts[0] in CHANGING):
            self.version += 1
        try:
            return Peer.ask(self, question, *parts)
        except BaseException as error:
            raised, self.has_raised = error, True
            if isinstance(error, ENDINGS):
                raise RuntimeError("the code raised %s" % class_name(type(error))) from None
            raise
        finally:
            lost = [error for error in self.given[before:] if error is not raised]
            del self.given[before:]
            if lost and self.broken is None:
                self.broken = End("failed", self.judge.describe(lost[0], "a check in a function that the code called"))
            if lost:
                raise self.broken

    def hand_over(self, error):
        """A check that failed in what the code called has to come back to the tests."""
        if self.is_failure(error):
            self.given.append(error)

    def is_failure(self, error):
        """Whether this is a check of the tests that failed, or could not be made, and no error that is part of what they try out."""
        if error is None or self.judge.is_in_a_check(error):
            return error is not None
        if isinstance(error, AssertionError):
            return "@number" not in vars(error) and frames(error)[-1:] != [self.judge.file_name]
        home = class_module(type(error))
        return type(home) is str and home.startswith("_pytest")

    def method(self, path, role, args, named):
        """Has the worker run the method under test: what the object holds goes there and comes back."""
        if path.endswith(("__exit__", "__aexit__")) and len(args) == 4:
            return leaving(self, args[2], lambda told: self.ask("method", path, role, (args[0], told), {}))
        return self.ask("method", path, role, args, named)

    def equal(self, one, other):
        """Compares what two objects of one class hold."""
        key = frozenset((number_of(one), number_of(other)))
        if key in self.comparing:
            return True
        self.comparing.add(key)
        try:
            return self.ask("state", one) == self.ask("state", other)
        finally:
            self.comparing.discard(key)

    # To the worker.

    def export(self, codec, value, depth):
        kind = type(value)
        if is_standin(value):
            if isinstance(value, CHANGEABLE):
                return ["m", number_of(value), codec.each(inside(value), depth + 1)]
            return ["m", number_of(value)]
        if kind is ByNumber:
            return ["m", value.number]
        if id(value) in self.coroutines:
            return ["m", self.coroutines[id(value)]]
        if isinstance(value, BaseException):
            if "@number" in vars(value):
                return ["m", vars(value)["@number"]]
            base = next(c for c in class_mro(kind) if CLASSES_BY_NAME.get(class_name(c)) is c)
            try:
                args = codec.encode(value.args, depth + 1)
            except Uncarryable:
                args = ["t"]
            return ["e", self.offer(value), class_name(kind), class_name(base), guarded_text(str, value), args]
        module = class_module(kind)
        if kind is ModuleType and modules.get(value.__name__) is value and is_standard(value.__name__.partition(".")[0]):
            return ["y", value.__name__, ""]
        if isinstance(value, type):
            if value in self.own_names:
                return ["O", self.own_names[value]]
            home = class_module(value)
            if type(home) is str and home != "driver" and not self.is_of_tests(home) and getattr(modules.get(home), class_name(value), None) is value:
                return ["y", home, class_name(value)]
            raise Uncarryable("the class `%s`" % class_name(value))
        if kind in CALLABLES or full_name(kind) in CALLED:
            home, name = getattr(value, "__module__", None), getattr(value, "__name__", "function")
            if type(home) is str and home != "driver" and not self.is_of_tests(home) and type(name) is str and getattr(modules.get(home), name, None) is value:
                return ["y", home, name]
            doc, full = getattr(value, "__doc__", None), getattr(value, "__qualname__", name)
            return ["k", self.offer(value), name if type(name) is str else "function", doc if type(doc) is str else None,
                    full if type(full) is str else "function"]
        if kind in ITERATORS or full_name(kind).startswith("itertools.") or (class_module(kind) == "builtins" and hasattr(kind, "__next__")):
            return ["j", self.offer(value), class_name(kind), ["__iter__", "__next__"]]
        unit = modules.get("unittest")
        is_case = unit is not None and issubclass(kind, unit.TestCase)
        known = [c for c in class_mro(kind) if c is not object]
        if self.is_of_tests(module) and not is_case and all(class_flags(c) & HEAP_TYPE for c in known):
            dunders = [name for name in OFFERED if any(name in class_dict(c) for c in known)]
            return ["j", self.offer(value), class_name(kind), dunders]
        raise Uncarryable("a `%s` object" % class_name(kind))

    def offer(self, value):
        """Gives a thing of the tests a number by which the worker may use it."""
        number = self.offers.get(id(value))
        if number is None:
            number = self.offers[id(value)] = len(self.offered)
            self.offered.append(value)
        return number

    # What the worker may ask for. Numbers stand only for what the tests passed to it.

    def call_offered(self, number, args, named):
        return self.offered[natural(number)](*args, **named)

    def get_offered(self, number, name):
        thing = self.offered[natural(number)]
        if text(name).startswith("_") or not self.is_of_tests(class_module(type(thing))):
            raise AttributeError(name)
        return getattr(thing, name)

    def set_offered(self, number, name, value):
        thing = self.offered[natural(number)]
        if text(name).startswith("_") or not self.is_of_tests(class_module(type(thing))) or hasattr(type(thing), name):
            raise AttributeError(name)
        setattr(thing, name, value)

    def do_offered(self, name, number, *more):
        return OFFERED[text(name)](self.offered[natural(number)], *more)

    # From the worker.

    def arrive(self, codec, item, depth):
        tag = text(item[0])
        if tag == "m":
            return self.offered[natural(item[1])]
        if tag == "E":
            return self.error(codec, item, depth)
        if tag == "y":
            name = text(item[1])
            if not is_standard(name.partition(".")[0]):
                raise Broken
            __import__(name)
            return modules[name]
        if tag not in ("h", "f", "C", "M", "w"):
            raise Broken
        number = natural(item[1])
        known = self.known.get(number)
        if known is None:
            if tag == "C":
                known = self.standin_class(number)
            elif tag == "f":
                known = Function(self, number, text(item[2]), item[3] is True, item[4] is True)
            elif tag == "M":
                known = Module(text(item[2]))
                vars(known).update({"@line": self, "@number": number})
            elif tag == "w":
                known = awaited(lambda: self.ask("wait", ByNumber(number)))
                self.coroutines[id(known)] = number
            else:
                known = self.standin(number, self.standin_class(natural(item[2])), item, codec, depth)
            self.known[number] = known
        elif tag == "h" and len(item) > 3 and isinstance(known, CHANGEABLE):
            refill(known, codec.all(item[3], 1, depth))
        return known

    def standin(self, number, cls, item, codec, depth):
        base = class_dict(cls)["@plain"]
        if base is not None and class_dict(cls)["@answers"] and not self.is_named(cls):
            raise self.tampered("the result is a `%s`, plain data that defines its own comparison" % class_name(cls))
        if base is None:
            made = object.__new__(cls)
        elif base in CHANGEABLE:
            made = base.__new__(cls)
            refill(made, codec.all(item[3], 1, depth))
        else:
            payload = codec.decode(item[3], depth + 1)
            if type(payload) is not base:
                raise Broken
            made = base.__new__(cls, payload)
        own_dict(made, "__dict__").update({"@line": self, "@number": number})
        return made

    def standin_class(self, number):
        known = self.known.get(number)
        if known is not None:
            if not isinstance(known, StandInClass):
                raise Broken
            return known
        name, module, bases, base, error, dunders, answers, equals, doc = self.ask("describe", ByNumber(number))
        base = base if base in PAYLOADS else None
        error = error if isinstance(error, type) and issubclass(error, BaseException) else None
        error = Exception if error in ENDINGS else error
        space = {"@line": self, "@number": number, "@answers": answers is True, "@equals": equals is True, "@plain": base,
                 "__module__": text(module), "__doc__": doc}
        if base is None and error is None:
            space.update((n, SPECIAL[text(n)]) for n in dunders if n in SPECIAL)
            space.update(ALWAYS)
        if base is not None:
            space.update((n, SPECIAL[n]) for n in BESIDE_PLAIN if n in dunders)
        if name in ("generator", "async_generator"):
            space.update((n, step(n)) for n in ("send", "throw"))
        if error is not None:
            space["__str__"] = lambda e: vars(e).get("@text", "")
        parents = tuple(self.standin_class(natural(n)) for n in bases) or (StandIn,)
        if (base or error) and not any(issubclass(p, base or error) for p in parents):
            parents += (base or error,)
        try:
            made = type.__new__(StandInClass, text(name), parents, space)
        except TypeError:
            made = type.__new__(StandInClass, name, (StandIn,), space)
        self.known[number] = made
        return made

    def error(self, codec, item, depth):
        """An exception of the worker's."""
        _tag, number, kind, said, args, cause, held = item
        number, said = natural(number), text(said)
        if number in self.known:
            return self.known[number]
        args = codec.decode(args, depth + 1)
        if type(args) is not tuple:
            raise Broken
        cls, own = None, False
        if kind[0] == "g":
            cls = CLASSES_BY_NAME[kind[1]]
        elif kind[0] == "y":
            module, name = text(kind[1]), text(kind[2])
            if module.partition(".")[0] not in FRAMEWORKS and not self.is_of_tests(module):
                cls = vars(modules.get(module) or builtins).get(name)
            if not (isinstance(cls, type) and issubclass(cls, BaseException)):
                cls, own = self.standin_class(natural(kind[3])), True
        elif kind[0] == "C":
            cls, own = self.standin_class(natural(kind[1])), True
        if not (isinstance(cls, type) and issubclass(cls, BaseException)):
            raise Broken
        try:
            made = cls.__new__(cls, *args) if own else type.__call__(cls, *args)
        except Exception:
            made = cls.__new__(cls)
        if own:
            set_args(made, args)
        elif guarded_text(str, made) != said:
            set_args(made, (said,))
        vars(made).update({"@line": self, "@number": number, "@text": said})
        cause = codec.decode(cause, depth + 1)
        if isinstance(cause, BaseException):
            made.__cause__ = cause
        for name, value in pairs(codec.all(held, 0, depth)):
            if text(name).isidentifier() and not name.startswith("__") and not hasattr(cls, name):
                vars(made)[name] = value
        self.known[number] = made
        return made


def wait_for_worker(line):
    """Waits until the worker's interpreter is up."""
    try:
        if line.receive() != ["ready"]:
            raise Broken
    except (Gone, Broken):
        raise End("gone", "the worker did not come up")


class ByNumber:
    """Something in the worker, known by its number only."""

    def __init__(self, number):
        self.number = number
