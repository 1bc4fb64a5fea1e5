# The user's own functions, classes and fixed values, run beside the tests: what the user wrote is not asked
# of the worker, where it could be replaced. Where a method is under test, its class is the user's here, too,
# and only that method asks the worker.
KEPT_DECORATORS = ("property", "staticmethod", "classmethod", "abstractmethod", "abc.abstractmethod")
ROLES = {"property": "fget", "setter": "fset", "deleter": "fdel", "getter": "fget"}


def parse_open(source):
    """A module text whose last function may still lack its body, or None."""
    for tail in ("", "\n    pass\n", "\n        pass\n"):
        try:
            return ast.parse(source + tail)
        except (SyntaxError, ValueError):
            continue
    return None


class Mine:
    """What of the user's file runs beside the tests."""

    def __init__(self, source, entry):
        """Reads the file, so that it is known before the candidate what the judge has of its own."""
        self.first, _, self.path = (entry or "").partition(".")
        self.entry, self.nodes, self.classes, self.left = entry, {}, set(), set()
        self.tree = tree = parse_open(source) if entry else None
        if tree is None:
            self.tree = ast.Module([], [])
            return
        seen, changed = {}, changed_names(tree)
        for node in tree.body:
            for name in given_names(node):
                seen[name] = seen.get(name, 0) + 1
        known = {} if self.is_method() else {self.first: None}
        for node in tree.body:
            names = given_names(node)
            if names == ["*"] and self.can_run_here(node):
                known.update((name, node) for name in ["*"] + dir(__import__(node.module, fromlist=["*"])))
            elif names and all(seen[name] == 1 and name not in changed for name in names) and self.can_run_here(node):
                known.update((name, node) for name in names)
        while True:
            unable = [name for name, node in known.items() if node is not None and not needs(node) <= set(known)]
            if not unable:
                break
            for name in unable:
                del known[name]
        self.nodes = {name: node for name, node in known.items() if node is not None}
        self.classes = {n.name for n in tree.body if isinstance(n, ast.ClassDef)}
        answering = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name != self.first and answers(n)}
        self.left = (self.classes | answering) - set(self.nodes)

    def is_method(self):
        return bool(self.path) and any(isinstance(n, ast.ClassDef) and n.name == self.first for n in self.tree.body)

    def can_run_here(self, node):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            roots = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            return not getattr(node, "level", 0) and all(is_standard(root.partition(".")[0]) for root in roots)
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            return node.value is not None and not is_empty(node.value) and (
                not isinstance(node.value, (ast.List, ast.Dict, ast.Set)) or all(name.isupper() for name in given_names(node)))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return node.name != self.first and not any(isinstance(part, ast.Global) for part in ast.walk(node))
        return isinstance(node, ast.ClassDef) and all(k.arg == "metaclass" and dotted(k.value) in ("ABCMeta", "abc.ABCMeta") for k in node.keywords)

    def run(self, line):
        """Runs what can run here, before the candidate is loaded: nothing of it may ask for the function under test."""
        space = self.space = {"__name__": HOME, "__builtins__": builtins, "@line": line}
        if not self.is_method():
            space[self.first] = Function(line, -1, self.first, False, False)
        line.broken = End("error", "the user's file calls the function under test while it is loaded")
        for node in self.tree.body:
            names = [name for name in given_names(node) if name in self.nodes]
            future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
            if not names or future:
                continue
            if isinstance(node, ast.ClassDef) and node.name == self.first and self.path:
                replace_method(node, self.path.split("."), self.entry)
            try:
                exec(compile(ast.Module([node], []), "<your file>", "exec", annotations_flag(self.tree), True), space)
            except BaseException:
                self.left.update(names)
        line.broken = None

    def things(self):
        """All that runs here, by name."""
        tested = None if self.is_method() else self.first
        return {name: value for name, value in self.space.items() if not name.startswith(("__", "@")) and name != tested}

    def counted(self, name):
        """The attributes of a class that it changes itself: counters, registers."""
        node = next((n for n in self.tree.body if isinstance(n, ast.ClassDef) and n.name == name.partition(".")[0]), None)
        found = set()
        for part in ast.walk(node) if node is not None else ():
            is_changed = isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load)
            if isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load):
                part, is_changed = part.value, True
            elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                part, is_changed = part.func.value, True
            owner = part.value if is_changed and isinstance(part, ast.Attribute) else None
            if isinstance(owner, ast.Name) and owner.id in ("cls", node.name) or isinstance(owner, ast.Call) and dotted(owner) == "type":
                found.update({part.attr} - {"__name__", "__qualname__", "__doc__", "__module__"})
            # The method under test may count, too, and its body is not known.
            elif self.path and isinstance(part, ast.Assign) and node.name == self.first and part in node.body:
                found.update(n for n in given_names(part) if is_empty(part.value) or getattr(part.value, "value", None) == 0)
        return sorted(found)


def annotations_flag(tree):
    future = [a.name for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == "__future__" for a in n.names]
    return 0x1000000 if "annotations" in future else 0


def replace_method(node, path, entry):
    """Puts a call of the worker in the place of the method under test."""
    for number, part in enumerate(node.body):
        if getattr(part, "name", None) != path[0]:
            continue
        if len(path) > 1 and isinstance(part, ast.ClassDef):
            replace_method(part, path[1:], entry)
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            roles = [ROLES[d.rpartition(".")[2]] for d in map(dotted, part.decorator_list) if d.rpartition(".")[2] in ROLES]
            asked = ast.Call(ast.Attribute(name("@line"), "method", ast.Load()), [
                ast.Constant(entry), ast.Constant(roles[0] if roles else None), name("@args"), name("@named")], [])
            part.args = ast.arguments([], [], ast.arg("@args"), [], [], ast.arg("@named"), [])
            is_doc = part.body and isinstance(part.body[0], ast.Expr) and isinstance(getattr(part.body[0], "value", None), ast.Constant)
            part.body = part.body[:1 if is_doc else 0] + [ast.Return(asked)]
            part.decorator_list = [d for d in part.decorator_list
                                   if dotted(d) in KEPT_DECORATORS or dotted(d).endswith((".setter", ".getter", ".deleter"))]
            node.body[number] = part
    ast.fix_missing_locations(node)


def answers(node):
    """Whether a function gives values."""
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) or (isinstance(part, ast.Return) and part.value is not None) for part in ast.walk(node))


def changed_names(tree):
    """The names of a module that its own functions change, or the contents of which they do."""
    found = set()
    for node in tree.body:
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        for part in ast.walk(node) if is_function else ():
            if isinstance(part, ast.Global):
                found.update(part.names)
            elif isinstance(part, ast.Subscript) and not isinstance(part.ctx, ast.Load) and isinstance(part.value, ast.Name):
                found.add(part.value.id)
            elif isinstance(part, ast.Attribute) and part.attr in CHANGING_METHODS and isinstance(part.value, ast.Name):
                found.add(part.value.id)
    return found


CHANGING_METHODS = {name for kind in (list, dict, set) for name in dir(kind) if not hasattr(tuple, name) and not hasattr(frozenset, name)} - {
    "get", "items", "keys", "values", "fromkeys"}
FILLED = ("dict", "list", "set", "defaultdict", "deque", "Counter", "OrderedDict")
STATEFUL = ("count", "iter", "open", "StringIO", "Lock", "RLock", "local", "defaultdict")


def is_empty(value):
    """Whether an expression makes something that is there to be filled or used up: a cache, a register, a counter."""
    if isinstance(value, (ast.List, ast.Dict)):
        return not getattr(value, "elts", None) and not getattr(value, "keys", None)
    called = dotted(value).rpartition(".")[2] if isinstance(value, ast.Call) else ""
    return called in STATEFUL or (called in FILLED and not value.args)


def dotted(node):
    """A decorator, or what a call calls, as text."""
    node = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Attribute):
        return "%s.%s" % (dotted(node.value), node.attr)
    return node.id if isinstance(node, ast.Name) else "?"


def given_names(node):
    """The names that a statement of a module gives a meaning to."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(a.asname or a.name).partition(".")[0] for a in node.names]
    return [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)]


def needs(node):
    """The names from outside that a statement uses, without builtins."""
    bound = bound_names(node) - set(given_names(node) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else ())
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    return {name for name in used if name not in bound and not hasattr(builtins, name) and name not in given_names(node)}


def nested_classes(name, cls):
    """A class and those inside of it, by their paths."""
    found = {name: cls}
    for key, value in list(class_dict(cls).items()):
        if isinstance(value, type) and class_module(value) == HOME and value.__qualname__.startswith(name + "."):
            found.update(nested_classes("%s.%s" % (name, key), value))
    return found
