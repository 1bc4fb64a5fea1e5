# The worker: holds the code under test and answers the judge's questions about it. Nothing in here is trusted
# by anybody: code under test may do to it what it likes, and can still only give the judge values.
UNARY = {
    "__len__": len, "__iter__": iter, "__str__": str, "__repr__": repr, "__bool__": bool,
    "__int__": int, "__float__": float, "__complex__": complex, "__index__": operator.index, "__abs__": abs, "__neg__": operator.neg,
    "__pos__": operator.pos, "__invert__": operator.invert, "__reversed__": reversed, "__format__": format, "__round__": round,
    "__enter__": lambda v: type(v).__enter__(v), "__exit__": lambda v, e: type(v).__exit__(v, *three(e)),
    "__trunc__": lambda v: type(v).__trunc__(v), "__floor__": lambda v: type(v).__floor__(v), "__ceil__": lambda v: type(v).__ceil__(v),
    "__getitem__": operator.getitem, "__setitem__": operator.setitem, "__delitem__": operator.delitem,
    "__missing__": lambda v, k: type(v).__missing__(v, k),
    "__copy__": lambda v: __import__("copy").copy(v), "__deepcopy__": lambda v: __import__("copy").deepcopy(v),
    "__bytes__": bytes, "__aiter__": lambda v: type(v).__aiter__(v),
}
COMPARE = {"__lt__": operator.lt, "__le__": operator.le, "__gt__": operator.gt,
           "__ge__": operator.ge}
BINARY = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "floordiv": operator.floordiv,
          "mod": operator.mod, "divmod": divmod, "pow": pow, "lshift": operator.lshift, "rshift": operator.rshift,
          "and": operator.and_, "xor": operator.xor, "or": operator.or_, "matmul": operator.matmul}
IN_PLACE = {"__i%s__" % n: getattr(operator, "i" + n) for n in BINARY if n != "divmod"}
OPERATIONS = dict(UNARY)
OPERATIONS.update(COMPARE)
OPERATIONS.update(IN_PLACE)
OPERATIONS.update(("__%s__" % n, f) for n, f in BINARY.items())
OPERATIONS.update(("__r%s__" % n, lambda v, other, f=f: f(other, v)) for n, f in BINARY.items())
MORE = ["__call__", "__next__", "__contains__", "__await__", "__anext__", "__aenter__", "__aexit__"]
STANDARD_MODULES = getattr(sys, "stdlib_module_names", sys.builtin_module_names)
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__bool__")


def three(error):
    """An exception as `__exit__` gets it. Its traceback stays where it was raised."""
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)


class Printed(StringIO):
    """What the code prints, until it is sent. Very much of it goes straight to the output."""

    def write(self, text):
        done = StringIO.write(self, text)
        if self.tell() > 1 << 20:
            original_stdout.write(self.taken())
            flush_text(original_stdout)
        return done

    def taken(self):
        said = self.getvalue()
        if said:
            self.seek(0)
            self.truncate()
        return said


class Foreign:
    """An object of the judge's."""


class Worker(Peer):
    def __init__(self, reading, writing):
        Peer.__init__(self, reading, writing)
        self.takes = LARGEST_SENT
        self.objects, self.ids = [], {}
        self.foreign, self.callbacks, self.foreigners, self.mirrored, self.loop = {}, {}, {}, {}, None
        self.printed = sys.stdout = Printed()
        self.printed.buffer = original_stdout.buffer
        self.candidate = ModuleType("candidate")
        self.questions = {
            "load": self.load, "call": lambda f, args, named: f(*args, **named), "get": getattr, "set": setattr, "del": delattr,
            "do": lambda name, value, *more: OPERATIONS[name](value, *more), "describe": self.describe, "wait": self.wait,
            "await": lambda f, args, named: self.wait(f(*args, **named)),
            "dir": dir, "step": self.step, "state": self.state, "method": self.method, "own": self.have_own,
            "async": self.do_async, "seed": lambda args, named: __import__("random").seed(*args, **named),
        }

    def fault(self, fault):
        leave(0)

    def cut(self):
        """A question was left before its answer: question and answer no longer belong together."""
        leave(0)

    def more(self, codec):
        """What goes with every answer: printed text, and what changed in objects the judge keeps a copy of."""
        mirrored = []
        for number, entry in list(self.mirrored.items()):
            if not unchanged(entry):
                mirrored.append([number] + codec.contents(INSIDE[entry[2]](entry[0])))
        return [self.printed.taken(), mirrored]

    def take_more(self, codec, more):
        pass

    def may_be_kept(self, question, parts, codec):
        if question in ("call", "await"):
            return codec.has_handles or type(parts[0]) is not FunctionType
        return codec.has_handles if question == "method" else question in ("get", "set", "do", "step", "wait", "async")

    # Questions.

    def load(self, program):
        """Runs the program as a module of its own; returns the module and its names, or the error and its line."""
        try:
            return self.load_module(program)
        except BaseException as error:
            return [False, error, line_in(error, CANDIDATE)]

    def load_module(self, program):
        self.candidate.__file__ = CANDIDATE
        modules["candidate"] = self.candidate
        tree = compile(program, CANDIDATE, "exec", 0x400 | 0x1000, True)
        if not tree.body:
            return [False, None, None]
        code = compile(program, CANDIDATE, "exec", 0, True)
        exec(code, vars(self.candidate))
        if "random" in modules:
            modules["random"].seed(0)
        return [True, self.candidate, [name for name in vars(self.candidate) if type(name) is str]]

    def have_own(self, names):
        """Which of these names are classes of the code."""
        for name, counted in names:
            found = self.candidate
            for part in name.split("."):
                found = vars(found).get(part)
            if isinstance(found, type) and class_module(found) == "candidate" and name not in self.own_classes:
                self.add_own(name, found, counted)
        return list(self.own_classes)

    def method(self, path, role, args, named):
        """Calls the method under test on a copy of the tests' object."""
        owner, _, name = path.rpartition(".")
        found = self.own_classes[owner].found(name)
        found = getattr(found, role) if role else getattr(found, "__func__", found) if isinstance(found, (staticmethod, classmethod)) else found
        args = (args[0],) + three(args[1]) if name in ("__exit__", "__aexit__") else args
        value = found(*args, **named)
        return self.wait(value) if role is None and type(value) is types.CoroutineType else value

    def state(self, value):
        """What an object holds."""
        own = Own(type(value))
        return own.inside(value)

    def step(self, question, value, *more):
        """True and an item, or False and the result where there are no more."""
        try:
            if question == "__anext__":
                return True, self.wait(type(value).__anext__(value))
            return True, next(value) if question == "__next__" else getattr(value, question)(*more)
        except StopIteration as end:
            return False, end.value
        except StopAsyncIteration:
            return False, None

    def describe(self, cls):
        """What the judge has to know about a class."""
        mro = class_mro(cls)
        own = [c for c in mro if self.is_codes(c)]
        plain = next((c for c in mro if c in INSIDE), None)
        error = next((c for c in mro if CLASSES_BY_NAME.get(class_name(c)) is c and issubclass(c, BaseException)), None)
        known = [c for c in mro if c is not object]
        dunders = [n for n in list(OPERATIONS) + MORE if any(n in class_dict(c) for c in known)]
        if any("__getitem__" in class_dict(c) for c in known) and "__iter__" not in dunders:
            dunders.append("__iter__")
        bases = [self.identify(c) for c in cls.__bases__ if self.is_codes(c)]
        doc = class_dict(cls).get("__doc__")
        return [class_name(cls), str(class_module(cls)), bases, plain, error, dunders, answers_for_itself(own),
                any("__eq__" in class_dict(c) for c in own), doc if type(doc) is str else None]

    def is_codes(self, cls):
        """Whether only the code has a class."""
        return class_module(cls) == "candidate"

    def wait(self, value):
        """Waits for something awaitable."""
        if self.loop is None:
            import asyncio
            self.loop = asyncio.new_event_loop()
        async def waiter():
            return await value
        return self.loop.run_until_complete(waiter())

    def do_async(self, name, value, *more):
        more = three(more[0]) if name == "__aexit__" else more
        return self.wait(getattr(type(value), name)(value, *more))

    # Values that are not plain data.

    def identify(self, value):
        number = self.ids.get(id(value))
        if number is None:
            number = self.ids[id(value)] = len(self.objects)
            self.objects.append(value)
        return number

    def export(self, codec, value, depth):
        kind = type(value)
        if issubclass(kind, (Foreign, BaseException)) and "_number_" in own_dict(value, "__dict__"):
            return ["m", vars(value)["_number_"]]
        if kind is FunctionType and value in self.foreign:
            return ["m", self.foreign[value]]
        if isinstance(value, type):
            if value in self.own_names:
                return ["O", self.own_names[value]]
            return ["C", self.identify(value)]
        codec.has_handles = True
        if isinstance(value, BaseException):
            held = [part for item in vars(value).items() if type(item[1]) in DATA for part in item]
            return ["E", self.identify(value), self.error_class(kind), plain_text_of(value), self.arguments(codec, value, depth),
                    codec.encode(value.__cause__, depth + 1), codec.each(held, depth)]
        if kind in FUNCTIONS:
            name = getattr(value, "__name__", "?")
            waits = bool(getattr(getattr(value, "__code__", None), "co_flags", 0) & 0x80)
            return ["f", self.identify(value), name if type(name) is str else "?", waits, kind is FunctionType]
        if kind is ModuleType:
            name = value.__name__
            if modules.get(name) is value and name.partition(".")[0] in STANDARD_MODULES:
                return ["y", name]
            return ["M", self.identify(value), str(value.__name__)]
        if kind is types.CoroutineType:
            return ["w", self.identify(value)]
        if kind.__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(value, "item"):
            return codec.encode(value.item(), depth + 1)
        parent = next((c for c in class_mro(kind) if standard_name(c)), None)
        if parent is not None and standard_name(parent) not in MUTABLE:
            name = standard_name(parent)
            return ["X", name, codec.encode(STANDARD[name][0](value), depth + 1)]
        made = ["h", self.identify(value), self.identify(kind)]
        base = next((c for c in class_mro(kind) if c in INSIDE), None)
        if base is not None:
            inside = INSIDE[base](value)
            if base in CHANGEABLE:
                self.mirrored.setdefault(made[1], remember(value, base))
                made.append(["t"] + codec.contents(inside, depth + 1))
            else:
                made.append(codec.encode(inside, depth + 1))
        return made

    def error_class(self, kind):
        if CLASSES_BY_NAME.get(class_name(kind)) is kind:
            return ["g", class_name(kind)]
        module = class_module(kind)
        if not self.is_codes(kind) and getattr(modules.get(module), class_name(kind), None) is kind:
            return ["y", module, class_name(kind), self.identify(kind)]
        return ["C", self.identify(kind)]

    def arguments(self, codec, error, depth):
        args = tuple(error.args)
        if isinstance(error, OSError) and len(args) == 2 and error.filename is not None:
            # Python leaves it out of them.
            args += (error.filename,)
        try:
            return codec.encode(args, depth + 1)
        except TooLarge:
            return ["t"]

    def arrive(self, codec, item, depth):
        tag = item[0]
        if tag == "m":
            value = self.objects[item[1]]
            if len(item) > 2:
                self.copy_into(value, codec.all(item[2], 0, depth))
            return value
        if tag == "k":
            return self.callback(*item[1:])
        if tag == "j":
            return self.foreigner(item[1], item[2], item[3])
        if tag == "e":
            base = CLASSES_BY_NAME[item[3]]
            cls = base if item[2] == item[3] else type(item[2], (base,), {"__str__": lambda error, said=item[4]: said})
            error = cls.__new__(cls)
            error.args = codec.decode(item[5], depth + 1)
            error._number_ = item[1]
            return error
        if tag == "y":
            home = __import__(item[1], fromlist=["_"])
            return getattr(home, item[2]) if item[2] else home
        raise Broken

    def copy_into(self, value, parts):
        """Makes plain data of a class of the code's hold what the judge's copy of it does."""
        base = next(c for c in class_mro(type(value)) if c in CHANGEABLE)
        if base is list:
            list.__setitem__(value, slice(None), parts)
        else:
            base.clear(value)
            base.update(value, pairs(parts) if base is dict else parts)
        self.mirrored[self.ids[id(value)]] = remember(value, base)

    def callback(self, number, name, doc, full_name):
        """A function of the judge's."""
        if number in self.callbacks:
            return self.callbacks[number]

        def function(*args, **named):
            return self.ask("call", number, args, named)

        function.__name__, function.__doc__, function.__qualname__ = name, doc, full_name
        self.foreign[function] = number
        self.callbacks[number] = function
        return function

    def foreigner(self, number, name, dunders):
        """An object of the judge's, reached through questions."""
        if number in self.foreigners:
            return self.foreigners[number]
        worker = self
        space = {"__getattr__": lambda v, n: worker.ask("get", number, n),
                 "__setattr__": lambda v, n, value: worker.ask("set", number, n, value)}
        for dunder in dunders:
            space[dunder] = lambda v, *more, d=dunder: worker.ask("do", d, number, *(more[1:2] if d == "__exit__" else more))
        if "__hash__" not in space:
            space["__hash__"] = object.__hash__
        cls = type(name, (Foreign,), space)
        made = cls()
        vars(made)["_number_"] = number
        self.foreigners[number] = made
        return made


def remember(value, base):
    return [value, flat(value) if base is dict else list(base.__iter__(value)), base]


def unchanged(entry):
    """Whether a container is as it was when this was asked last."""
    value, before, base = entry
    now = flat(value) if base is dict else list(base.__iter__(value))
    entry[1] = now
    return len(now) == len(before) and all(map(operator.is_, now, before))


def plain_text_of(error):
    said = guarded_text(str, error)
    return said if is_plain_text(said) else said.encode("utf-8", "replace").decode("utf-8")


def answers_for_itself(classes):
    """Whether one of the classes hand-writes a comparison (a dataclass's generated one is honest)."""
    for cls in classes:
        own = class_dict(cls)
        for name in COMPARISONS:
            if name in own:
                code = getattr(own[name], "__code__", None)
                if not ("__dataclass_fields__" in own and code is not None and code.co_filename != CANDIDATE):
                    return True
    return False


def main():
    request_fd, record_fd, reading, writing = map(int, sys.argv[1:5])
    sys.argv[:] = [""]
    read_request(request_fd)
    worker = Worker(reading, writing)
    write(record_fd, b"started\n")
    os.close(record_fd)
    worker.send(["ready"])
    while True:
        try:
            worker.serve(worker.receive())
        except (Gone, Broken, End):
            leave(0)


