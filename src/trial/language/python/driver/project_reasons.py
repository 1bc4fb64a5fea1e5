# Why tests of a project need the code in their own process, as far as texts show it: that of the user's file
# and those of the tests. No code under test has a say in it.
# Decorators that hand errors of the tests to the function.
THROWING = ("contextmanager", "asynccontextmanager")
# Methods that Python calls where it looks at no result, or where a result says that something is over.
UNSEEN = frozenset("__%s__" % name for name in (
    "new", "next", "anext", "exit", "aexit", "del", "getattr", "getattribute", "setattr", "delattr", "set_name", "init_subclass",
    "class_getitem", "instancecheck", "subclasscheck", "subclasshook", "prepare", "reduce", "reduce_ex", "getstate", "setstate",
    "get", "set", "delete", "await", "aiter", "mro_entries", "post_init", "attrs_post_init"))
PATCHING = ("mock", "freezegun", "time_machine", "responses", "requests_mock", "httpretty", "respx", "pyfakefs", "flexmock", "vcr", "moto",
            "testfixtures", "pretend")
LIBRARIES = {name: why for name, why in SHARING.items() if why not in ("shares files", "starts programs", "pickles", "loads modules")}
LOOKED_AT = frozenset(("__code__", "__globals__", "__closure__", "__defaults__", "__kwdefaults__", "getsource", "getsourcelines", "isgenerator",
                       "isgeneratorfunction", "iscoroutine", "iscoroutinefunction", "isasyncgen", "isasyncgenfunction", "GeneratorType",
                       "CoroutineType", "AsyncGeneratorType", "getrefcount", "settrace", "setprofile", "setrecursionlimit", "StopIteration",
                       "StopAsyncIteration", "reload", "stdin", "seed", "setlocale", "tzset", "warns", "deprecated_call", "assertWarns",
                       "assertLogs", "assertNoLogs", "assertWarnsRegex", "get_objects", "getgeneratorstate", "cache_info", "cache_clear", "aiter", "anext"))
MORE_FIXTURES = {"mocker": "replaces parts of the code", "fs": "shares files", "freezer": "stops the clock", "capfdbinary": "listens to the process",
                 "capsysbinary": "listens to the process", "testdir": "starts programs", "pytester": "starts programs", "benchmark": "measures times",
                 "doctest_namespace": "shares names"}
SHARED_FIXTURES = dict(FIXTURES, **MORE_FIXTURES)


def named_nodes(body, path):
    """The definitions that a path leads to in the text of a module, and the class around them."""
    first, _, rest = path.partition(".")
    nodes = [n for n in body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and n.name == first]
    if not rest:
        return nodes, None
    if not nodes or not isinstance(nodes[-1], ast.ClassDef):
        return [], None
    found, inner = named_nodes(nodes[-1].body, rest)
    return found, inner or nodes[-1]


def last_name(node):
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "?")


def why_of_function(source, path):
    """What of the function itself needs one process."""
    name = path.rpartition(".")[2]
    try:
        nodes, owner = named_nodes(ast.parse(source).body, path)
    except (SyntaxError, ValueError):
        return "the file cannot be read without the code"
    nodes = [node for node in nodes if "overload" not in map(last_name, getattr(node, "decorator_list", ()))]
    if not nodes or isinstance(nodes[-1], ast.ClassDef):
        return "`%s` is defined inside of another function, or by cases" % name
    node = nodes[-1]
    for decorator in node.decorator_list:
        if last_name(decorator) in THROWING:
            return "`%s` is decorated with `%s`" % (name, last_name(decorator))
    if name in UNSEEN:
        return "`%s` is called by Python itself" % name
    if owner is not None and any(last_name(base) == "type" or last_name(base).endswith("Meta") for base in owner.bases):
        return "`%s` is a class of classes" % owner.name
    # What its docstring promises and what its class waits for; an end of an iteration does not come through.
    around = [ast.get_docstring(node) or ""] + ([ast.dump(part) for part in owner.body if part is not node] if owner is not None else [])
    if any("StopIteration" in text or "StopAsyncIteration" in text for text in around):
        return "`%s` may end an iteration" % name
    if isinstance(node, ast.AsyncFunctionDef):
        returns = ast.dump(node.returns) if node.returns is not None else ""
        if "Async" in returns or any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(node)):
            return "`%s` is an async generator" % name
    return None


# What plain values are made with.
MAKING = ("list", "dict", "set", "frozenset", "tuple", "bytearray", "bytes", "str", "int", "float", "bool", "deque", "defaultdict", "OrderedDict", "Counter")
DATA_KINDS = (list, dict, set, tuple, str, bytes, int, float)


def why_of_globals(source, path, texts):
    """A global of the module that does something, that is set by functions and that the tests see other than by calling the function:
    what sets it in the worker cannot be told to the judge."""
    try:
        module, tests = ast.parse(source), [ast.parse(text) for text in texts]
    except (SyntaxError, ValueError):
        return None
    name = path.rpartition(".")[2]
    first = {}
    for node in module.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    first[target.id] = node
    functions = [node for node in ast.walk(module) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    used = {function: words_of(function) for function in functions}
    seen = {word for tree in tests for word in words_of(tree)}
    for key, node in first.items():
        using = [function for function in functions if key in used[function]]
        others = {function.name for function in using} - {name}
        setting = [function for function in using if any(isinstance(part, ast.Global) and key in part.names for part in ast.walk(function))]
        is_nothing = isinstance(node.value, ast.Constant) and node.value.value is None
        # Without its body it is known by what it is called, or as nobody else sets what is nothing yet.
        heads = [" ".join([function.name, ast.get_docstring(function) or ""]) for function in functions if function.name == name]
        is_spoken_of = any(key.strip("_").lower() in head.lower() for head in heads)
        is_set = bool(setting) or is_spoken_of or is_nothing and bool(others)
        if is_set and seen & (others | {key}) and may_do(key, node, module, tests, others, setting):
            return "the tests see `%s`, which cannot be carried between two processes" % key
    return None


# Decorators of methods whose result is computed once and kept in the object, by what is in their names.
KEEPING = ("cache", "lazy", "reify", "memoize")
CHANGING = ("append", "extend", "insert", "remove", "pop", "popitem", "popleft", "appendleft", "clear", "update", "setdefault", "add", "discard",
            "sort", "reverse")


def why_of_kept(source, path, texts):
    """What a class computes once, and what is changed then: the judge lets the class compute it anew, and the change would be gone."""
    try:
        module, tests = ast.parse(source), [ast.parse(text) for text in texts]
    except (SyntaxError, ValueError):
        return None
    kept = {}
    for owner in (node for node in ast.walk(module) if isinstance(node, ast.ClassDef)):
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and any(word in last_name(d).lower() for d in node.decorator_list for word in KEEPING):
                kept[node.name] = owner
            elif isinstance(node, ast.Assign) and getattr(node.value, "id", None) in kept:
                kept.update((target.id, owner) for target in node.targets if isinstance(target, ast.Name))
    if not kept:
        return None
    # Without its body a method is known by what it says of itself.
    functions, own = named_nodes(module.body, path)
    said = " ".join(ast.get_docstring(node) or "" for node in functions)
    said = "".join(c if c.isalnum() or c == "_" else " " for c in said).split()
    changed = [key for key, owner in kept.items() if owner is own and key in said and key != path.rpartition(".")[2]]
    for part in (part for tree in [module] + tests for part in ast.walk(tree)):
        places = part.targets if isinstance(part, ast.Assign) else [part.target] if isinstance(part, ast.AugAssign) else []
        if isinstance(part, ast.Call) and getattr(part.func, "attr", None) in CHANGING:
            places = [part.func.value]
        if isinstance(part, ast.Delete):
            places = [node for node in part.targets if isinstance(node, ast.Subscript)]
        places = [node.value if isinstance(node, ast.Subscript) else node for node in places]
        changed += [node.attr for node in places if isinstance(node, ast.Attribute) and node.attr in kept]
    return "`%s` is computed once and changed then" % changed[0] if changed else None


def may_do(key, node, module, tests, others, setting):
    """Whether a global is seen to do something: where it is set, and how it is used."""
    values = [node.value] + [part.value for function in setting for part in ast.walk(function)
                             if isinstance(part, ast.Assign) and any(getattr(target, "id", "") == key for target in part.targets)]
    inner = {part.name for function in setting for part in ast.walk(function)
             if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and part is not function}
    for value in values:
        is_made = isinstance(value, ast.Call) and last_name(value) not in MAKING
        if isinstance(value, ast.Lambda) or is_made or getattr(value, "id", None) in inner:
            return True
    if isinstance(node.value, (ast.Name, ast.Attribute)) or "Callable" in ast.dump(getattr(node, "annotation", None) or ast.Pass()):
        return True
    is_it = lambda part: getattr(part, "id", None) == key or getattr(part, "attr", None) == key
    for tree in [module] + tests:
        for part in ast.walk(tree):
            if isinstance(part, ast.With) and any(is_it(item.context_expr) for item in part.items):
                return True
            called = part.func if isinstance(part, ast.Call) else None
            if is_it(called) or isinstance(called, ast.Call) and last_name(called) in others:
                return True
            if isinstance(called, ast.Attribute) and is_it(called.value) and not any(hasattr(kind, called.attr) for kind in DATA_KINDS):
                return True
    return False


def words_of(tree):
    """The names in a text, also those in quotes."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.update(a.name for a in node.names)
        word = node.value if isinstance(node, ast.Constant) else getattr(node, "id", None) or getattr(node, "attr", None)
        if type(word) is str:
            found.add(word)
    return found


def why_of_names(names, space):
    """What of the names that a test uses needs one process; `space` is what they mean."""
    for name in sorted(names):
        if name in LOOKED_AT:
            return "the tests use `%s`" % name
        meant = space.get(name)
        home = meant.__name__ if type(meant) is ModuleType else getattr(meant, "__module__", None)
        for module in (name, home if type(home) is str else name):
            if module in LIBRARIES:
                return "the tests use `%s`, which %s" % (module, LIBRARIES[module])
            if module.partition(".")[0] in PATCHING:
                return "the tests use `%s`, which replaces parts of the code" % module
    return None


def why_of_text(text):
    """The same of a whole tests file, or of examples."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.update([node.module] + ["%s.%s" % (node.module, a.name) for a in node.names])
        elif isinstance(node, (ast.Attribute, ast.Name)):
            names.add(node.attr if isinstance(node, ast.Attribute) else node.id)
    return why_of_names(names, {})


def why_of_loading(text, file_name, top):
    """What a tests file does to the project while it is loaded, where the worker does not see it."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    of_project = set()
    for node in body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            roots = [a.name.partition(".")[0] for a in node.names] if isinstance(node, ast.Import) else [(node.module or "").partition(".")[0]]
            if getattr(node, "level", 0) or any(is_in_project(root, top) for root in roots):
                of_project.update((a.asname or a.name).partition(".")[0] for a in node.names)
            continue
        changed = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        changed = [part for part in changed if isinstance(part, (ast.Attribute, ast.Subscript))]
        called = [node.value.func] if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else []
        for part in changed + called:
            while isinstance(part, (ast.Attribute, ast.Subscript, ast.Call)):
                part = part.func if isinstance(part, ast.Call) else part.value
            if getattr(part, "id", "") in of_project:
                return "%s changes something of the project while it is loaded" % file_name
    return None


def is_in_project(root, top):
    """Whether a module of this name lies in the project."""
    places = [os.path.join(folder, root) for folder in (top, os.path.join(top, "src"))]
    return any(os.path.isdir(place) or os.path.isfile(place + ".py") for place in places)


class OfTest:
    """The functions of the tests that one test comes through: its own, those of its class and fixtures, and what they call."""

    def __init__(self, item, tree):
        self.tree, self.seen, self.cls = tree, set(), getattr(item, "cls", None)
        self.reason = None
        known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        self.add(getattr(item, "obj", None))
        for definitions in known.values():
            for definition in definitions:
                self.add(getattr(definition, "func", None))
        for name in dir(self.cls) if self.cls is not None else ():
            if name.lower().startswith(("setup", "teardown", "asyncsetup")):
                self.add(getattr(self.cls, name, None))

    def add(self, function):
        while type(function) is not FunctionType or hasattr(function, "__wrapped__"):
            if hasattr(function, "patchings"):
                self.reason = self.reason or "the tests use `mock`, which replaces parts of the code"
            inner = getattr(function, "__wrapped__", None) or getattr(function, "__func__", None)
            if inner is None:
                return
            function = inner
        if function in self.seen or not self.tree.is_of_tests(function.__module__) or len(self.seen) > 500:
            return
        self.seen.add(function)
        names, space = names_of(function.__code__), function.__globals__
        self.reason = self.reason or why_of_names(names, space)
        for name in names:
            meant = space.get(name)
            self.add(meant)
            self.add(getattr(self.cls, name, None) if self.cls is not None else None)
            if isinstance(meant, type) and self.tree.is_of_tests(class_module(meant)):
                for member in class_dict(meant).values():
                    self.add(member)


def why_of_callers(frame, tree, looked_at):
    """The same of the functions of the tests that a call comes from."""
    while frame is not None:
        if frame.f_code not in looked_at and tree.is_of_tests(frame.f_globals.get("__name__")):
            looked_at.add(frame.f_code)
            reason = why_of_names(names_of(frame.f_code), frame.f_globals)
            if reason is not None:
                return reason
        frame = frame.f_back
    return None


def names_of(code):
    """The names that a function uses, with those of functions inside of it."""
    found = set(code.co_names)
    for part in code.co_consts:
        if type(part) is types.CodeType:
            found |= names_of(part)
    return found


def settings_above(path, top):
    """The settings in code that pytest reads for a tests file."""
    found, folder = [], os.path.dirname(os.path.abspath(path))
    while (folder + os.sep).startswith(top + os.sep):
        found.append(os.path.join(folder, "conftest.py"))
        folder = os.path.dirname(folder)
    return [file for file in found if os.path.isfile(file)]


def why_one_process(source, function, files, top):
    """The reason that the texts of the function and of the tests give, or None."""
    reason, texts = why_of_function(source, function), []
    for file in files if reason is None else ():
        if not os.path.isfile(file):
            return "there is no file %s" % file
        with open(file, errors="replace") as opened:
            texts.append(opened.read())
        reason = reason or why_of_loading(texts[-1], os.path.basename(file), top)
    return reason or why_of_globals(source, function, texts) or why_of_kept(source, function, texts)
