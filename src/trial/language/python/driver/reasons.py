# Why tests need one process: decided from their own text alone, so that no code under test can choose it.
SHARING = {
    "mock": "replaces parts of the code", "unittest.mock": "replaces parts of the code", "inspect": "looks into the code",
    "pickle": "pickles", "copyreg": "pickles", "importlib": "loads modules", "runpy": "loads modules", "gc": "looks into memory",
    "ctypes": "looks into memory", "dis": "looks into the code", "weakref": "refers to objects weakly", "tracemalloc": "looks into memory",
    "threading": "calls from several threads", "multiprocessing": "calls from several processes",
    "concurrent": "calls from several threads", "concurrent.futures": "calls from several threads", "subprocess": "starts programs",
    "tempfile": "shares files", "pathlib": "shares files", "shutil": "shares files", "sqlite3": "shares files", "glob": "shares files",
    "signal": "uses signals", "warnings": "listens for warnings", "logging": "listens to the log", "doctest": "looks into the code",
}
INSPECTED = ("__code__", "__globals__", "__closure__", "__dict__", "__mro__", "__bases__", "__subclasses__", "__subclasshook__",
             "__defaults__", "__kwdefaults__", "__getattribute__", "__slots__", "__reduce__", "__reduce_ex__", "__class__",
             "__annotations__", "__dataclass_fields__", "get_type_hints", "GeneratorType", "FunctionType", "LambdaType", "MethodType",
             "CoroutineType", "AsyncGeneratorType", "assertWarns", "assertWarnsRegex", "assertLogs", "assertNoLogs", "warns")
INSPECTING = ("open", "globals", "locals", "vars", "id", "exec", "eval", "__import__", "asdict", "astuple", "is_dataclass",
              "get_type_hints", "GeneratorType", "FunctionType", "LambdaType", "MethodType")
OF_SYSTEM = ("stdin", "modules", "settrace", "setprofile", "getrefcount", "stderr", "argv", "getsizeof", "setrecursionlimit")
PATHS_ONLY = ("path", "linesep", "sep", "getcwd")


FIXTURES = {"tmp_path": "shares files", "tmp_path_factory": "shares files", "tmpdir": "shares files", "monkeypatch": "replaces parts of the code",
            "caplog": "listens to the log", "capfd": "listens to the process", "recwarn": "listens for warnings"}


def passed_coroutines(tree):
    """The name of a coroutine function of the tests that does more than to be awaited or run there, or None."""
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)}
    if not own:
        return None
    fine = set()
    for node in ast.walk(tree):
        inner = node.value if isinstance(node, ast.Await) else None
        if isinstance(node, ast.Call) and called_name(node) in ("run", "run_until_complete", "gather", "create_task", "wait_for"):
            fine.update(id(part.func) for part in node.args if isinstance(part, ast.Call))
        if isinstance(inner, ast.Call):
            fine.add(id(inner.func))
    return next((node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in own and id(node) not in fine), None)


def why_shared(tree, own, missing):
    """The reason why these tests need the code in their own process, or None."""
    bound, aliases = bound_names(tree), set()
    passed = passed_coroutines(tree)
    if passed is not None:
        return "the tests pass the coroutine `%s` on" % passed
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
            aliases.update((a.asname or a.name).partition(".")[0] for a in node.names if a.name == own or a.name in missing)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module != own and node.module not in missing:
            names = [node.module] + ["%s.%s" % (node.module, a.name) for a in node.names]
        for name in names:
            if name == own or name in missing or name.partition(".")[0] in missing:
                continue
            if name in SHARING:
                return "the tests import `%s`, which %s" % (name, SHARING[name])
            if not is_standard(name.partition(".")[0]):
                return "the tests import `%s`, whose objects cannot be carried between two processes" % name.partition(".")[0]
        if isinstance(node, ast.Attribute):
            if node.attr in INSPECTED:
                return "the tests look at `%s`" % node.attr
            base = node.value.id if isinstance(node.value, ast.Name) else None
            if base == "sys" and node.attr in OF_SYSTEM:
                return "the tests use `sys.%s`" % node.attr
            if base == "dataclasses" and node.attr in ("asdict", "astuple", "fields", "replace", "is_dataclass"):
                return "the tests use `dataclasses.%s`" % node.attr
            if base == "os" and node.attr not in PATHS_ONLY:
                return "the tests use `os.%s`" % node.attr
            if base == "builtins" and isinstance(node.ctx, (ast.Store, ast.Del)):
                return "the tests replace `builtins.%s`" % node.attr
        if isinstance(node, ast.Name) and node.id in INSPECTING and isinstance(node.ctx, ast.Load):
            if node.id not in bound or not hasattr(builtins, node.id):
                return "the tests use `%s`" % node.id
        if isinstance(node, ast.arg) and node.arg in FIXTURES:
            return "the tests use `%s`, which %s" % (node.arg, FIXTURES[node.arg])
        if isinstance(node, ast.ClassDef):
            for base in node.bases:
                if isinstance(base, ast.Name) and base.id not in bound and not hasattr(builtins, base.id):
                    return "the tests derive a class from `%s`" % base.id
                if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name) and base.value.id in aliases:
                    return "the tests derive a class from `%s.%s`" % (base.value.id, base.attr)
            imported = {a.asname or a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)
                        and (n.level or n.module == own or n.module in missing) for a in n.names}
            for base in node.bases:
                if isinstance(base, ast.Name) and base.id in imported:
                    return "the tests derive a class from `%s`" % base.id
    return None


def is_standard(root):
    names = getattr(sys, "stdlib_module_names", None)
    if root in ("pytest", "__future__", "typing_extensions"):
        return True
    if names is not None:
        return root in names
    found = getattr(modules.get(root), "__file__", None)
    return found is None or "site-packages" not in found and "dist-packages" not in found


def claimed_names(tree, own, missing):
    """The names that the tests expect from the code: free ones, and those they import from it or read from its module."""
    bound = bound_names(tree)
    names, aliases = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in bound:
            names.add(node.id)
        elif isinstance(node, ast.ImportFrom) and (node.level or node.module == own or node.module in missing):
            names.update(a.name for a in node.names)
        elif isinstance(node, ast.Import):
            aliases.update((a.asname or a.name).partition(".")[0] for a in node.names if a.name == own or a.name in missing)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
            names.add(node.attr)
    return names
