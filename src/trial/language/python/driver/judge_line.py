# The judge's end of the line: what it carries to the worker, what it makes of what comes back, and what the worker may ask for.
ITERATORS = (types.GeneratorType, type(iter([])), type(iter(())), type(iter({})), type(iter(range(0))), type(iter(set())), map, filter, zip,
             enumerate, reversed)
HOME = "tests_of_the_candidate"


class Fair:
    """Takes the place of the guard of one-process trials: here the stand-ins themselves see to it."""

    def __init__(self):
        self.named = frozenset()
        self.line = None

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
        if isinstance(kind, StandInClass) and not self.line.is_named(kind):
            return self.line.who_answers(kind)
        return None


class Line(Peer):
    """The judge's end."""

    def __init__(self, reading, writing, fair):
        Peer.__init__(self, reading, writing)
        self.fair, self.known, self.tied, self.offered, self.offers = fair, {}, {}, [], {}
        self.candidate = None
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

    def more(self, codec):
        return []

    def take_more(self, codec, more):
        said, tied, mirrored = more
        for change in tied:
            refill(self.tied[natural(change[0])], codec.all(change, 1, 0))
        for change in mirrored:
            mirror = self.known[natural(change[0])]
            if isinstance(mirror, PAYLOADS):
                refill(mirror, codec.all(change, 1, 0))
        if text(said):
            sys.stdout.write(said)

    def is_named(self, cls):
        return class_name(cls) in self.fair.named

    def who_answers(self, cls):
        """The name of the class if it hand-writes comparisons."""
        return class_name(cls) if class_dict(cls).get("@answers") else None

    # To the worker.

    def export(self, codec, value, depth):
        if is_standin(value):
            return ["m", number_of(value)]
        kind = type(value)
        if kind is ByNumber:
            return ["m", value.number]
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
        if isinstance(value, type):
            if value in self.own_names:
                return ["O", self.own_names[value]]
            home = class_module(value)
            if type(home) is str and home != HOME and getattr(modules.get(home), class_name(value), None) is value:
                return ["y", home, class_name(value)]
            raise Uncarryable("the class `%s`" % class_name(value))
        if kind in (types.FunctionType, types.MethodType, types.BuiltinFunctionType) or full_name(kind) == "functools.partial":
            home, name = getattr(value, "__module__", None), getattr(value, "__name__", "function")
            if type(home) is str and home not in (HOME, "driver") and type(name) is str and getattr(modules.get(home), name, None) is value:
                return ["y", home, name]
            return ["k", self.offer(value), name if type(name) is str else "function"]
        if kind in ITERATORS or full_name(kind).startswith("itertools.") or (class_module(kind) == "builtins" and hasattr(kind, "__next__")):
            return ["j", self.offer(value), class_name(kind), ["__iter__", "__next__"]]
        if class_name(kind) in VIEWS or class_name(kind) in ("dict_values", "odict_values"):
            return ["j", self.offer(value), class_name(kind), ["__iter__", "__len__", "__contains__"]]
        unit = modules.get("unittest")
        is_case = unit is not None and issubclass(kind, unit.TestCase)
        if module == HOME and not is_case and not any(base in PLAIN_CLASSES[:-2] for base in class_mro(kind)):
            known = [c for c in class_mro(kind) if c is not object]
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
        if text(name).startswith("_") or class_module(type(thing)) != HOME:
            raise AttributeError(name)
        return getattr(thing, name)

    def set_offered(self, number, name, value):
        thing = self.offered[natural(number)]
        if text(name).startswith("_") or class_module(type(thing)) != HOME or hasattr(type(thing), name):
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
        if tag not in ("h", "f", "C", "M"):
            raise Broken
        number = natural(item[1])
        known = self.known.get(number)
        if known is None:
            if tag == "C":
                known = self.standin_class(number)
            elif tag == "f":
                known = Function(self, number, text(item[2]), item[3] is True)
            elif tag == "M":
                known = Module(text(item[2]))
                vars(known).update({"@line": self, "@number": number})
            else:
                known = self.standin(number, self.standin_class(natural(item[2])), item, codec, depth)
            self.known[number] = known
        elif tag == "h" and len(item) > 3 and isinstance(known, (list, dict, set)):
            refill(known, codec.all(item[3], 1, depth))
        return known

    def standin(self, number, cls, item, codec, depth):
        base = class_dict(cls)["@plain"]
        if base is not None and class_dict(cls).get("@answers") and not self.is_named(cls):
            raise self.tampered("the result is a `%s`, plain data that defines its own comparison" % class_name(cls))
        if base is None:
            made = object.__new__(cls)
        elif base in (list, dict, set):
            made = base.__new__(cls)
            refill(made, codec.all(item[3], 1, depth))
        else:
            made = base.__new__(cls, codec.decode(item[3], depth + 1))
        own_dict(made, "__dict__").update({"@line": self, "@number": number})
        return made

    def standin_class(self, number):
        known = self.known.get(number)
        if known is not None:
            if not isinstance(known, StandInClass):
                raise Broken
            return known
        name, module, bases, plain, error, dunders, replaced, answers, doc = self.ask("describe", ByNumber(number))
        answers = answers is True
        plain = plain if plain in PAYLOADS and not (answers and text(name) in self.fair.named) else None
        error = error if isinstance(error, type) and issubclass(error, BaseException) else None
        space = {"@line": self, "@number": number, "@answers": answers, "@plain": plain, "__module__": text(module),
                 "__doc__": doc}
        if plain is None and error is None:
            for dunder in list(dunders) + list(ALWAYS):
                if dunder in SPECIAL:
                    space[text(dunder)] = SPECIAL[dunder]
                elif dunder in PASSED_ON:
                    space[dunder] = forward(dunder)
        if plain is not None:
            space.update((n, Replaced(n)) for n in replaced if self.may_replace(text(n), plain))
            space.update((n, forward(n) if n.startswith("__") else Replaced(n)) for n in MUTATORS if plain in (list, dict, set) and hasattr(plain, n))
            if "__call__" in dunders:
                space["__call__"] = called
            for dunder in ("__str__", "__repr__"):
                if dunder in dunders:
                    space[dunder] = SPECIAL[dunder]
        if name == "generator":
            space.update((n, Replaced(n)) for n in ("send", "throw", "close"))
        if error is not None:
            space["__str__"] = lambda e: vars(e).get("@text", "")
        parents = tuple(self.standin_class(natural(n)) for n in bases) or (StandIn,)
        if (plain or error) and not any(issubclass(p, plain or error) for p in parents):
            parents += (plain or error,)
        try:
            made = type.__new__(StandInClass, name, parents, space)
        except TypeError:
            made = type.__new__(StandInClass, name, (StandIn,), space)
        self.known[number] = made
        return made

    def may_replace(self, name, plain):
        """Whether a class derived from plain data may answer for this name itself. What plain data can do is done here."""
        return name.isidentifier() and not name.startswith("__") and name not in TELLING and not hasattr(plain, name)

    def error(self, codec, item, depth):
        """An exception of the worker's."""
        _tag, number, kind, said, args = item
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
            if module.partition(".")[0] not in EVASIVE and module != HOME and not name.startswith("_"):
                cls = getattr(modules.get(module), name, None)
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
        self.known[number] = made
        return made


set_args = class_dict(BaseException)["args"].__set__


class ByNumber:
    """Something in the worker, known by its number only."""

    def __init__(self, number):
        self.number = number
