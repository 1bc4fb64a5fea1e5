# The user's own helper functions and classes, run beside the tests: what the user wrote is not asked of the worker, where it could be
# replaced.
DECORATORS = ("dataclass", "dataclasses.dataclass", "total_ordering", "functools.total_ordering", "property", "staticmethod", "classmethod")
UNUSUAL = ("__slots__", "__new__", "__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__", "__init_subclass__",
           "__class_getitem__", "__set_name__", "__reduce__", "__getstate__", "__setstate__")


def parse_open(source):
    """A module text whose last function may still lack its body, or None."""
    for tail in ("", "\n    pass\n"):
        try:
            return ast.parse(source + tail)
        except (SyntaxError, ValueError):
            continue
    return None


def own_things(source, entry, function):
    """The functions and simple classes of the user's module that need nothing but builtins, the library, fixed values and each other,
    by their names.

    Others (those that change the module's globals, or are no plain bundles of attributes) stay in the worker: their state lives there."""
    tree = parse_open(source)
    if tree is None or entry is None:
        return {}
    first = entry.partition(".")[0]
    known, kept, helpers, seen = {first}, [], {}, {}
    for node in tree.body:
        for name in given_names(node):
            seen[name] = seen.get(name, 0) + 1
    for node in tree.body:
        names = given_names(node)
        if any(seen[name] > 1 for name in names):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            roots = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            if not getattr(node, "level", 0) and all(is_standard(root.partition(".")[0]) for root in roots):
                kept.append(node)
                known.update(names)
        elif isinstance(node, ast.Assign) and is_fixed(node.value):
            kept.append(node)
            known.update(names)
        elif isinstance(node, ast.FunctionDef) and node.name != first and not node.decorator_list:
            if not any(isinstance(part, (ast.Global, ast.Nonlocal)) for part in ast.walk(node)):
                helpers[node.name] = node
        elif isinstance(node, ast.ClassDef) and node.name != first and is_simple_class(node):
            helpers[node.name] = node
    while True:
        able = known | set(helpers)
        unable = [name for name, node in helpers.items() if not needs(node) <= able]
        if not unable:
            break
        for name in unable:
            del helpers[name]
    if not helpers:
        return {}
    space = {"__name__": HOME, "__builtins__": builtins, first: function}
    try:
        exec(compile(ast.Module(kept + list(helpers.values()), []), "<your file>", "exec", 0, True), space)
    except Exception:
        return {}
    space[first] = function
    return {name: space[name] for name in helpers}


def is_simple_class(node):
    """Whether objects of a class are just their attributes, and the class itself never changes."""
    if node.bases or node.keywords or not all(dotted(d) in DECORATORS[:4] for d in node.decorator_list):
        return False
    for part in node.body:
        if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
            usual = all(dotted(d) in DECORATORS or dotted(d).endswith((".setter", ".getter")) for d in part.decorator_list)
            if part.name in UNUSUAL or not usual:
                return False
        elif isinstance(part, (ast.Assign, ast.AnnAssign)):
            is_field = isinstance(part.value, ast.Call) and dotted(part.value) in ("field", "dataclasses.field")
            if set(given_names(part)) & set(UNUSUAL) or not (part.value is None or is_field or is_fixed(part.value)):
                return False
        elif not isinstance(part, (ast.Pass, ast.Expr)):
            return False
    for part in ast.walk(node):
        if isinstance(part, (ast.Global, ast.Nonlocal)):
            return False
        # A counter on the class, say.
        if isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
            if not isinstance(part.value, ast.Name) or part.value.id in ("cls", node.name):
                return False
    return True


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


def is_fixed(value):
    """Whether an expression is a value that nothing changes."""
    if isinstance(value, ast.Tuple):
        return all(is_fixed(part) for part in value.elts)
    if isinstance(value, ast.UnaryOp):
        return isinstance(value.operand, ast.Constant)
    return isinstance(value, ast.Constant)


def needs(node):
    """The names from outside that a function or class uses, without builtins."""
    bound = bound_names(node) - {node.name}
    used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    return {name for name in used if name not in bound and not hasattr(builtins, name)}
