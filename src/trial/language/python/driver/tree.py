# The driver: a project of which both processes have a copy. Its classes, functions and modules travel by name;
# an object of one of its classes, or of a library's, travels by what it holds and is made anew from the other
# side's own class.
# Libraries whose objects say more than they hold: those that tests judge by, and those of threads and processes.
CLOSED = frozenset((
    "unittest", "doctest", "test", "pytest", "_pytest", "pluggy", "mock", "driver", "builtins", "hypothesis", "hamcrest", "dirty_equals",
    "testfixtures", "freezegun", "logging", "threading", "_thread", "asyncio", "concurrent", "multiprocessing", "subprocess", "weakref",
    "contextlib", "contextvars", "inspect", "typing", "types", "functools", "importlib", "_reached"))
LIBRARY = frozenset(getattr(sys, "stdlib_module_names", sys.builtin_module_names))
# Comparisons of the library that hold contents against contents, whatever these are.
HONEST = frozenset(("argparse.Namespace", "collections.UserDict", "collections.UserList", "collections.abc.Mapping"))
OWNED_BASES = frozenset((object, *INSIDE, *(c for c in CLASSES_BY_NAME.values() if issubclass(c, BaseException))))


def qualified(thing):
    """The module and the path of a class or function, as it says itself; else None."""
    if isinstance(thing, type):
        module, path = class_module(thing), type.__dict__["__qualname__"].__get__(thing)
    else:
        module, path = thing.__module__, thing.__qualname__
    return (module, path) if type(module) is str and type(path) is str else None


class Tree:
    """A copy of the project, and what of it this process has loaded."""

    def __init__(self, copy, request):
        self.copy, self.kept = copy + os.sep, tuple(os.path.join(folder, "") for folder in request["kept"])
        # Examples stand in the file of the function, which is no file of the tests.
        self.tests = request["tests"] if request["source"] is None else None
        self.package, self.values, self.counted = None, {}, -1
        # Whether what globals hold is on its way: then none of them stands for itself.
        self.is_telling = False
        # Whether any module is loaded that the other side names: the worker's libraries concern nobody.
        self.is_open = False

    def file_of(self, module):
        """The path of a module inside the copy; None for one from elsewhere."""
        path = vars(module).get("__file__")
        if type(path) is not str or not path.startswith(self.copy) or path.startswith(self.kept):
            return None
        return path[len(self.copy):]

    def is_of_tests(self, name):
        """Whether a module is the tests' own, which only the judge has."""
        module = modules.get(name) if type(name) is str else None
        path = self.file_of(module) if type(module) is ModuleType else None
        if path is None:
            return False
        base = os.path.basename(path)
        is_asked = self.tests is not None and (os.sep + path).endswith(os.sep + self.tests)
        return is_asked or base == "conftest.py" or base.startswith("test_") or base.endswith("_test.py")

    def module(self, name):
        """The module of the project with this name, if it is loaded and no tests'."""
        module = modules.get(name) if type(name) is str else None
        if type(module) is not ModuleType or self.file_of(module) is None or self.is_of_tests(name):
            return None
        return module

    def library(self, name):
        """The module of a library with this name, if it is loaded and its objects may travel."""
        module = modules.get(name) if type(name) is str and name.partition(".")[0] not in CLOSED else None
        return module if type(module) is ModuleType and self.file_of(module) is None else None

    def modules(self):
        return [(name, module) for name, module in list(modules.items()) if self.module(name) is module]

    def find(self, module, path):
        """What a path of names leads to; None if it leads nowhere."""
        found = vars(module).get(path.partition(".")[0])
        for part in path.split(".")[1:]:
            found = class_dict(found).get(part) if isinstance(found, type) else None
            found = found.__func__ if type(found) in (staticmethod, classmethod) else found
        return found

    def name_of(self, thing):
        """`module:path` of a class or function of the project, or of a class of a library, if that leads to it."""
        module, path = qualified(thing) or (None, "")
        home = self.module(module) or (self.library(module) if isinstance(thing, type) else None)
        return "%s:%s" % (module, path) if home is not None and self.find(home, path) is thing else None

    def value_name(self, value):
        """The name of a fixed value of a module, such as a mark for what was not given: it is told by its identity."""
        if self.is_telling:
            return None
        if len(modules) != self.counted:
            self.counted, self.values = len(modules), {}
            for module, home in self.modules():
                for name, thing in list(vars(home).items()):
                    if not issubclass(type(thing), (type, ModuleType, FunctionType) + PLAIN_CLASSES[:-2]):
                        self.values.setdefault(id(thing), ("%s:%s" % (module, name), thing))
        found = self.values.get(id(value))
        if found is None and class_flags(type(value)) & HEAP_TYPE:
            module = class_module(type(value))
            home = self.library(module)
            names = [name for name, thing in list(vars(home).items()) if thing is value] if home is not None else ()
            return "%s:%s" % (module, names[0]) if names else None
        return found[0] if found is not None and found[1] is value else None

    def resolve(self, name):
        """What a name of the other side's means here. The judge loads a module for it only from the package under test and
        the library of Python."""
        module, _, path = text(name).partition(":")
        root = module.partition(".")[0]
        if module not in modules and root not in CLOSED and (self.is_open or root == self.package or root in LIBRARY):
            __import__(module)
        home, is_own = self.module(module), True
        if home is None:
            home, is_own = self.library(module), False
        found = None if home is None else self.find(home, path) if path else home if is_own else None
        if found is None or (path and type(found) is ModuleType):
            raise Broken
        if not is_own and not isinstance(found, type) and class_module(type(found)) != module:
            raise Broken
        return found


class InProject:
    """What both ends of the line do where the code belongs to a project."""
    forgets = True

    def own_name(self, kind):
        name = self.own_names.get(kind)
        if name is None and class_flags(kind) & HEAP_TYPE and kind not in self.others and standard_name(kind) is None:
            name = self.tree.name_of(kind) if can_be_carried(kind) else None
            name = name if name is not None and self.has(name) and self.may_go(kind) else None
            if name is None:
                self.others.add(kind)
            else:
                self.add_own(name, kind, ())
        return name

    def own(self, name):
        if name not in self.own_classes:
            cls = self.tree.resolve(name)
            if not isinstance(cls, type) or not can_be_carried(cls) or not self.may_come(cls):
                raise Broken
            self.add_own(name, cls, ())
        return self.own_classes[name]

    def may_go(self, cls):
        """Whether this side may send objects of a class, and whether it takes them."""
        return True

    may_come = may_go

    def compares_as_held(self, cls):
        """Whether objects of a class can be judged by whoever made up what they hold: those of libraries only where they do
        not compare in a way of their own, which odd contents could lead to any answer."""
        if self.tree.module(class_module(cls)) is not None:
            return True
        own = [c for c in class_mro(cls) if class_flags(c) & HEAP_TYPE and full_name(c) not in HONEST]
        return not any(name in class_dict(c) for c in own for name in ("__eq__", "__ne__", "__bool__", "__instancecheck__")
                       if "__dataclass_fields__" not in class_dict(c))

    def by_name(self, value):
        """How something travels that both sides have; None for all else."""
        kind = type(value)
        if kind is ModuleType:
            name = value.__name__
            return ["P", name + ":"] if type(name) is str and self.tree.module(name) is value else None
        is_defined = kind is FunctionType or isinstance(value, type)
        name = self.tree.name_of(value) if is_defined else self.tree.value_name(value)
        return None if name is None or not self.has(name) else ["P", name]


def can_be_carried(cls):
    """Whether what objects of a class hold can be read and written: nothing of it is kept by C code."""
    return type not in class_mro(cls) and all(map(holds_no_secret, class_mro(cls)))


def holds_no_secret(base):
    """Whether a class itself is written in Python, or known."""
    if not class_flags(base) & HEAP_TYPE or full_name(base) == "datetime.tzinfo":
        return base in OWNED_BASES or full_name(base) == "datetime.tzinfo"
    own = class_dict(base)
    in_c = any(type(part) in OF_C and part.__objclass__ is base for part in own.values())
    return not in_c and type(own.get("__new__")) is not types.BuiltinFunctionType


OF_C = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)


def raw_function(tree, module, path):
    """The function that a path leads to, under its decorators."""
    owner, _, name = path.rpartition(".")
    cls = tree.find(module, owner) if owner else None
    found = vars(module).get(name) if not owner else class_dict(cls).get(name) if isinstance(cls, type) else None
    while found is not None:
        if type(found) is property:
            found = found.fget
        elif type(found) in (staticmethod, classmethod):
            found = found.__func__
        elif type(found) is not FunctionType and hasattr(found, "func"):
            found = found.func
        elif hasattr(found, "__wrapped__"):
            found = found.__wrapped__
        else:
            break
    return found
