# The judge's end of the line in a project: the tests and the project run here, and a body that stands in the
# place of the one under test asks the worker.
# Words of a file that looks at the parameters of functions, or into objects: those of the tests show neither.
LOOKING = frozenset(("inspect", "__code__", "getfullargspec", "__wrapped__", "vars", "__dict__", "pickle", "deepcopy"))
# What classes have that are read as a whole.
RECORDS = ("__dataclass_fields__", "__attrs_attrs__", "_fields", "__pydantic_fields__", "__struct_fields__")
CANNOT = "the tests pass what cannot be carried between two processes: %s"
# With more calls than this, going back and forth takes longer than tests may.
MOST_CALLS = 3000


class Checks:
    """Takes the place of the judge of a single file: here the test runner says what failed."""

    def __init__(self, file_name):
        self.file_name = file_name

    def is_in_a_check(self, error):
        return isinstance(error, AssertionError) or class_module(type(error)) == "_pytest.outcomes"

    def describe(self, error, doing):
        return "%s failed: %s" % (doing, show_error(error))


class ProjectLine(InProject, Line):
    # Whatever goes wrong with what the tests pass is no fault of the code.
    cannot_carry = (Exception,)

    def __init__(self, reading, writing, tree, tests):
        Line.__init__(self, reading, writing, Fair())
        self.takes = LARGEST_SENT
        self.tree, self.others, self.judge, self.begun = tree, set(), Checks(tests), None
        self.thread, self.folder = get_ident(), os.getcwd()
        self.variables, self.calls, self.state, self.is_looking = variables(), 0, State(self), None
        self.blinded = self.doubt = None

    def has(self, name):
        return True

    def may_come(self, cls):
        return self.compares_as_held(cls)

    def is_of_tests(self, module):
        return self.tree.is_of_tests(module)

    def call(self, path, frame):
        """Has the worker run the body of a function on the arguments of a frame."""
        reason = self.why_not(frame)
        if reason is not None:
            self.unfit(reason)
        if self.begun is None:
            self.begin(frame.f_globals["__name__"], path)
        args, named = arguments(frame, raw_function(self.tree, modules[self.begun], path))
        told = self.look()
        if self.blinded is not None:
            self.unfit("what the project holds cannot be looked at: %s" % self.blinded)
        if told:
            self.tree.is_telling = True
            try:
                self.ask("told", told)
            finally:
                self.tree.is_telling = False
        return self.ask("run", bool(frame.f_code.co_flags & 0x80), args, named)

    def begin(self, module, path):
        """Has the worker load the code."""
        wait_for_worker(self)
        home = modules[module]
        self.look_at_file(home)
        self.tree.package, self.begun = module.partition(".")[0], module
        names = [name for name in vars(home) if type(name) is str]
        folders = [folder[len(self.tree.copy):] if (folder + os.sep).startswith(self.tree.copy) else folder for folder in sys.path]
        answer = self.ask("begin", module, path, names, folders, self.tree.copy, [name for name in modules if type(name) is str])
        if type(answer) is not str:
            raise self.fault(Broken())
        if answer:
            self.broken = End("error", answer)
            raise self.broken

    def look(self):
        """What has changed in the project since this was asked last."""
        try:
            return self.state.changed(self.tree.modules())
        except Exception as error:
            self.blinded = self.blinded or show_error(error)
            return []

    def take_more(self, codec, more):
        said, mirrored, errors, told = more
        Line.take_more(self, codec, [said, mirrored])
        if text(errors):
            sys.stderr.write(errors)
        home = self.tree.module(self.begun)
        for change in told:
            name, how, parts = text(change[0]), change[1], codec.decode(change[2])
            before = vars(home).get(name)
            # What the module does is the user's; code may change only what it holds.
            if may_change(name, before) and not (how == "is" and (does(before) or does(parts))):
                self.state.take(self.begun, name, how, parts)
        if told:
            # What was just taken over is no news for the worker.
            self.state.changed([(self.begun, home)])

    def ask(self, question, *parts):
        """A check that failed must not vanish in the code, to which a block or a generator of the project's may hand it."""
        given = [part for part in flattened(parts) if isinstance(part, BaseException) and part.__traceback__ is not None]
        lost = [error for error in given if self.is_failure(error)]
        try:
            return Line.ask(self, question, *parts)
        except BaseException as error:
            lost = [other for other in lost if other is not error]
            raise
        finally:
            if lost and self.broken is None:
                self.broken = End("failed", self.judge.describe(lost[0], "a check whose error the code was given"))

    def send(self, message):
        try:
            Line.send(self, message)
        except TooLarge as error:
            self.unfit("what the tests pass is %s" % error)

    def why_not(self, frame):
        """Why one call needs the code in the process of the tests: what it is given, or what the tests have changed."""
        self.calls += 1
        if self.calls > MOST_CALLS:
            return "the tests call it more than %d times" % MOST_CALLS
        if self.nested > MOST_NESTED - 3:
            return "calls back and forth are nested too deeply"
        if get_ident() != self.thread:
            return "the tests call it from several threads"
        if os.getcwd() != self.folder:
            return "the tests change the current folder"
        if variables() != self.variables:
            return "the tests change the environment"
        for value in frame.f_locals.values():
            for part in value if type(value) in (list, tuple) and len(value) < 100 else (value,):
                is_path = type(part) is str or (type(part).__module__ or "").partition(".")[0] == "pathlib"
                if is_path and str(part).startswith((self.tree.copy, self.folder, gettempdir() + os.sep)):
                    return "the tests pass the path of a file"
        return None

    def why_shared(self, path, frame):
        """The same, as far as it shows before there is a worker."""
        home = self.tree.module(frame.f_globals.get("__name__"))
        if home is None or getattr(raw_function(self.tree, home, path), "__code__", None) is not frame.f_code:
            return "a decorator hides `%s`" % path
        self.look_at_file(home)
        if self.doubt is None:
            self.doubt = in_doubt(self, home) or ""
        if self.doubt:
            return self.doubt
        reason = self.why_not(frame)
        if reason is not None:
            return reason
        try:
            Codec(self).encode(list(arguments(frame, None)))
        except self.cannot_carry as error:
            return CANNOT % error
        return None

    def unfit(self, error):
        if isinstance(error, RecursionError):
            # What the tests call is nested too deeply without us, too.
            raise error
        Line.unfit(self, error if isinstance(error, str) else CANNOT % error)

    def export(self, codec, value, depth):
        if not is_standin(value):
            named = self.by_name(value)
            if named is not None:
                return named
            if type(value) is object:
                return ["j", self.offer(value), "object", []]
            self.check_own(value)
        return Line.export(self, codec, value, depth)

    def check_own(self, value):
        """Refuses what of the tests' own cannot be told from afar: that needs one process."""
        kind = type(value)
        if kind is FunctionType and self.is_looking:
            raise Uncarryable("a function to code that looks at functions")
        if not self.tree.is_of_tests(class_module(kind)):
            return
        if self.is_looking or any(name in class_dict(c) for c in class_mro(kind) for name in RECORDS):
            raise Uncarryable("a `%s` object of the tests" % class_name(kind))
        if any(class_flags(c) & HEAP_TYPE and self.tree.name_of(c) is not None for c in class_mro(kind)):
            raise Uncarryable("an object of `%s`, a class that the tests derive from one of the project" % class_name(kind))

    def look_at_file(self, home):
        """Reads the file of the function, whose words say what it may do with what it is given."""
        if self.is_looking is None:
            with open(home.__file__, errors="replace") as opened:
                words = "".join(c if c.isalnum() or c == "_" else " " for c in opened.read()).split()
            self.is_looking = not LOOKING.isdisjoint(words)

    def arrive(self, codec, item, depth):
        if item[0] == "P":
            return self.tree.resolve(item[1])
        return Line.arrive(self, codec, item, depth)


def in_doubt(line, home):
    """Why what a function of a module returns may not travel, although what it is given does."""
    tree, vars_of = line.tree, home
    for name, thing in list(vars(home).items()):
        if isinstance(thing, type) and tree.name_of(thing) is not None and not can_be_carried(thing) and type not in class_mro(thing):
            if tree.module(class_module(thing)) is not None:
                return "objects of `%s` cannot be carried between two processes" % name
    roots = set()
    for _name, module in tree.modules():
        for thing in list(vars(module).values()):
            home = thing.__name__ if type(thing) is ModuleType else class_module(thing) if issubclass(type(thing), type) else None
            root = home.partition(".")[0] if type(home) is str else ""
            if root and root not in LIBRARY and tree.library(root) is not None:
                roots.add(root)
                if module is vars_of and issubclass(type(thing), type) and not line.compares_as_held(thing):
                    return "objects of `%s` compare in a way of their own" % class_name(thing)
    for name, module in list(modules.items()):
        root, path = name.partition(".")[0], getattr(module, "__file__", None)
        if root in roots and type(path) is str and path.endswith((".so", ".pyd", ".dylib")):
            return "the project uses `%s`, whose objects cannot be carried between two processes" % root
    return None


def flattened(parts):
    for part in parts:
        if type(part) in (list, tuple, dict):
            yield from flattened(part.values() if type(part) is dict else part)
        else:
            yield part


def variables():
    """The environment, without what pytest says there of itself."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def arguments(frame, function):
    """The arguments of a call, from the frame of a body that has not begun: those by place, and those by name. The worker
    has the defaults of its own, which code may know by their identity."""
    code, known = frame.f_code, frame.f_locals
    names, count, only = code.co_varnames, code.co_argcount, code.co_kwonlyargcount
    args = [known[name] for name in names[:count]]
    defaults, named_defaults = getattr(function, "__defaults__", None) or (), getattr(function, "__kwdefaults__", None) or {}
    named = {name: known[name] for name in names[count:count + only] if name not in named_defaults or known[name] is not named_defaults[name]}
    rest = count + only
    more = known[names[rest]] if code.co_flags & 4 else ()
    for default in reversed(defaults if not more else ()):
        if args[-1] is not default:
            break
        args.pop()
    if code.co_flags & 8:
        named.update(known[names[rest + bool(code.co_flags & 4)]])
    return tuple(args) + tuple(more), named
