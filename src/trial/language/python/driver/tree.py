# The driver: a project of which both processes have a copy. Its classes, functions and modules travel by name;
# an object of one of its classes travels by what it holds and is made anew from the other side's own class.
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
        """`module:path` of a class or function of the project, if that leads to it."""
        module, path = qualified(thing) or (None, "")
        home = self.module(module)
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
        return found[0] if found is not None and found[1] is value else None

    def resolve(self, name):
        """What a name of the other side's means here. A module is loaded for it only from the package under test."""
        module, _, path = text(name).partition(":")
        if module not in modules and module.partition(".")[0] == self.package:
            __import__(module)
        home = self.module(module)
        found = home if home is not None and not path else self.find(home, path) if home is not None else None
        if found is None or (path and type(found) is ModuleType):
            raise Broken
        return found


class InProject:
    """What both ends of the line do where the code belongs to a project."""
    forgets = True

    def own_name(self, kind):
        name = self.own_names.get(kind)
        if name is None and class_flags(kind) & HEAP_TYPE and kind not in self.others:
            name = self.tree.name_of(kind) if can_be_carried(kind) else None
            name = name if name is not None and self.has(name) else None
            if name is None:
                self.others.add(kind)
            else:
                self.add_own(name, kind, ())
        return name

    def own(self, name):
        if name not in self.own_classes:
            cls = self.tree.resolve(name)
            if not isinstance(cls, type) or not can_be_carried(cls):
                raise Broken
            self.add_own(name, cls, ())
        return self.own_classes[name]

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
    def is_known(base):
        own = class_flags(base) & HEAP_TYPE and type(class_dict(base).get("__new__")) is not types.BuiltinFunctionType
        return own or base in OWNED_BASES
    return type not in class_mro(cls) and all(map(is_known, class_mro(cls)))


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
