# The driver: tests files that no framework runs as they are. Names of the code that a file uses and does not
# import are defined for it. Plain asserts and `check(candidate)` become a test. A failing assert reports its
# values.

# Seconds for asking a failed check for its values again.
ASKING = 0.5
# Names that only pytest calls or provides.
OF_PYTEST = ("setup_module", "teardown_module", "setup_function", "teardown_function", "pytestmark", "pytest_plugins")


class TestsFile:
    """A tests file as text: what it needs, and what it holds."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.names = {path, os.path.abspath(path), os.path.realpath(path)}
        self.tree = ast.parse(text, path)
        nodes = list(ast.walk(self.tree))
        self.imports = [node for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]
        self.modules = {a.name for node in self.imports if isinstance(node, ast.Import) for a in node.names}
        self.modules |= {node.module for node in self.imports if isinstance(node, ast.ImportFrom) and node.module and not node.level}
        bound, used = names_in(symtable.symtable(text, path, "exec"))
        # Examples are code, too.
        examples = [line.strip()[4:] for line in text.split("\n") if line.strip().startswith((">>> ", "... "))]
        used |= set(re.findall(r"[A-Za-z_]\w*", " ".join(examples)))
        # After an import of everything the missing names are unknown.
        everything = any(a.name == "*" for node in self.imports if isinstance(node, ast.ImportFrom) for a in node.names)
        # Names such as `__file__` are each module's own.
        self.free = set() if everything else {name for name in used - bound if not name.startswith("__")}
        self.functions = {node.name: node for node in self.tree.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
        self.classes = [node for node in self.tree.body if isinstance(node, ast.ClassDef)]

    def takes_from(self, name, has):
        """True if it imports a module of this name for something that the code `has`."""
        bound = {a.asname or name for node in self.imports if isinstance(node, ast.Import) for a in node.names if a.name == name}
        members = {part.attr for part in ast.walk(self.tree) if isinstance(part, ast.Attribute) and path_of(part.value) in bound}
        given = [node for node in self.imports if isinstance(node, ast.ImportFrom) and node.module == name and not node.level]
        members |= {a.name for node in given for a in node.names}
        return any(member == "*" or has(member) for member in members)

    def tests(self):
        """The names of the functions and classes that frameworks take for tests."""
        functions = [name for name in self.functions if name.startswith("test")]
        return functions + [node.name for node in self.classes if node.name.startswith("Test") or self.is_case(node)]

    def is_case(self, node):
        return any("TestCase" in ast.dump(base) for base in node.bases)

    def wants_pytest(self, is_there):
        """Why the tests ask for pytest, or None."""
        imports = any(name.partition(".")[0] in ("pytest", "_pytest") for name in self.modules)
        if not self.tests() and self.checks_when_loaded() and (is_there or not imports):
            return None
        if imports:
            return "the tests import pytest"
        for name, node in self.functions.items():
            if name in OF_PYTEST:
                return "the tests have a `%s`" % name
            if name.startswith("test") and (node.args.args or node.args.kwonlyargs):
                return "%s takes fixtures" % name
            if name.startswith("test") and isinstance(node, ast.AsyncFunctionDef):
                return "%s is a coroutine" % name
        for node in self.classes:
            if node.name.startswith("Test") and not self.is_case(node) and any(part.name.startswith("test") for part in node.body if hasattr(part, "name")):
                return "%s is a class of tests without a base" % node.name
        return None

    def loads_tests(self):
        """True if it makes its tests itself, as unittest lets it."""
        set_to = [getattr(target, "id", "") for node in self.tree.body if isinstance(node, ast.Assign) for target in node.targets]
        return "load_tests" in self.functions or "load_tests" in set_to

    def checks_when_loaded(self):
        """True if loading the file checks something: it is a test itself then."""
        simple = [node for node in self.tree.body if not hasattr(node, "name") and not isinstance(node, (ast.Import, ast.ImportFrom))]
        is_main = lambda node: isinstance(node, ast.If) and "__main__" in ast.dump(node.test)
        parts = [part for node in simple if not is_main(node) for part in ast.walk(node)]
        return any(isinstance(part, ast.Assert) for part in parts) or any(
            isinstance(part, ast.Expr) and isinstance(part.value, ast.Call) and (name_of(part.value) == "check" or "assert" in name_of(part.value)) for part in parts)

    def calls_check(self):
        bodies = [node for node in self.tree.body if not hasattr(node, "name")]
        return any(isinstance(part, ast.Call) and name_of(part) == "check" for node in bodies for part in ast.walk(node))

    def words(self, error, doing):
        """The message for an error raised by the tests."""
        frame, line = None, None
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename in self.names:
                frame, line = trace.tb_frame, trace.tb_lineno
            trace = trace.tb_next
        if frame is None:
            return show_error(error)
        place = " (%s:%d)" % (os.path.basename(self.path), line)
        sites = [node for node in ast.walk(self.tree) if isinstance(node, ast.Assert) and node.lineno <= line <= node.end_lineno]
        if not sites:
            return show_error(error) + place
        test = sites[-1].test
        if not isinstance(error, AssertionError):
            return "%s raised %s%s%s" % (self.source(test), show_error(error), self.values(test, frame), place)
        said = ": " + shorten(error, 200) if error.args else ""
        return self.seen(test, frame) + said + self.values(test, frame) + place

    def values(self, test, frame):
        """The variables that a check uses, and that are no side of it themselves."""
        sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else [test]
        names = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)} - {getattr(side, "id", "") for side in sides}
        known = [(name, frame.f_locals[name]) for name in sorted(names) if name in frame.f_locals]
        plain = ["%s = %s" % (name, show(value)) for name, value in known if not callable(value) and not isinstance(value, type(os))]
        return ", with " + ", ".join(plain[:4]) if plain else ""

    def seen(self, test, frame):
        """The two sides of a failed assert, asked for again."""
        def value(node):
            return show(eval(compile(ast.Expression(node), self.path, "eval"), frame.f_globals, frame.f_locals))

        def late(*_):
            raise TimeoutError()

        before = None
        try:
            # A side may wait for what comes once, such as an entry of a queue.
            before = signal(SIGALRM, late)
            setitimer(ITIMER_REAL, ASKING)
            if isinstance(test, ast.Compare) and len(test.ops) == 1:
                left, right, sign = test.left, test.comparators[0], test.ops[0]
                if not isinstance(sign, (ast.Eq, ast.Is)):
                    return "%s does not hold: left is %s, right is %s" % (self.source(test), value(left), value(right))
                if isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
                    left, right = right, left
                return "%s gave %s, expected %s" % (self.source(left), value(left), value(right))
            if isinstance(test, ast.Call):
                return "%s gave %s, expected something true" % (self.source(test), value(test))
        except BaseException:
            pass
        finally:
            setitimer(ITIMER_REAL, 0)
            if before is not None:
                signal(SIGALRM, before)
        return "%s does not hold" % self.source(test)

    def source(self, node):
        return shorten(ast.get_source_segment(self.text, node) or "?", 120)


def path_of(node):
    """`a.b` of an expression that says just that, else a text that is no path."""
    if isinstance(node, ast.Attribute):
        return "%s.%s" % (path_of(node.value), node.attr)
    return getattr(node, "id", "")


def name_of(node):
    """The name of the function that is called."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def names_in(table):
    """The names that a module gives a meaning to, and those that it uses as its own or a builtin's."""
    bound = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()}
    used, tables = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}, list(table.get_children())
    while tables:
        inner = tables.pop()
        tables += inner.get_children()
        for symbol in inner.get_symbols():
            if symbol.is_declared_global() and symbol.is_assigned():
                bound.add(symbol.get_name())
            elif symbol.is_global() and symbol.is_referenced():
                used.add(symbol.get_name())
    return bound, used
