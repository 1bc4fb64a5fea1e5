# The driver: asserts that count themselves and can say what they saw.
#
# `assert a == b, m` becomes: evaluate a and b once, keep both, ask the judge. Names that begin with @ cannot
# be written in Python, so they meet no name of the tests or of the candidate.


class Site:
    """Where an assert stands in the tests."""

    def __init__(self, node):
        self.first, self.last, self.test = node.lineno, node.end_lineno, node.test
        self.is_fixed = not any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(node.test))


# What calls that check something are called.
CHECKING = ("assert", "check", "expect", "verify", "raises", "warns")


class Rewriter(ast.NodeTransformer):
    """Turns every assert into a question to the judge, and tells it where else something was checked."""

    def __init__(self, sites, lines, tree):
        self.sites, self.lines, self.bound = sites, lines, bound_names(tree)
        # Whose own checks are seen.
        self.own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}

    def is_checking(self, node):
        called = called_name(node)
        return called not in self.own and any(word in called.lower() for word in CHECKING)

    def visit_Expr(self, node):
        self.generic_visit(node)
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if not self.is_checking(value):
            return node
        self.lines.update(range(node.lineno, node.end_lineno + 1))
        return [node, looked(node, value)]

    def visit_With(self, node):
        self.generic_visit(node)
        calls = [item.context_expr for item in node.items]
        if any(self.is_checking(made) for made in calls):
            return [node, looked(node)]
        return [node, looked(node, raised=True)] if any(called_name(made) == "suppress" for made in calls) else node

    visit_AsyncWith = visit_With

    def visit_If(self, node):
        self.generic_visit(node)
        return [node, looked(node)] if any(isinstance(part, ast.Raise) for part in node.body + node.orelse) else node

    def visit_Try(self, node):
        self.generic_visit(node)
        for handler in node.handlers:
            if handler.type is not None and getattr(handler.type, "id", "") not in ("Exception", "BaseException"):
                handler.body.insert(0, looked(handler.body[0], raised=True))
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("all", "any") and node.func.id not in self.bound and len(node.args) == 1:
            node.func = ast.copy_location(ast.Attribute(name("@judge"), node.func.id, ast.Load()), node)
        return node

    def visit_Assert(self, node):
        self.generic_visit(node)
        number = len(self.sites)
        self.sites.append(Site(node))
        self.lines.update(range(node.lineno, node.end_lineno + 1))
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left, right, outcome = (name("@left"), name("@right"), ast.Compare(name("@left"), test.ops, [name("@right")]))
            before = [ast.Assign([name("@left", True)], test.left), ast.Assign([name("@right", True)], test.comparators[0])]
        else:
            left, right, outcome = ast.Constant(None), ast.Constant(None), name("@left")
            before = [ast.Assign([name("@left", True)], test)]
        pair = isinstance(outcome, ast.Compare)
        question = call("holds", [ast.Constant(number), ast.Constant(pair), outcome, left, right])
        message = [] if node.msg is None else [node.msg]
        failure = call("failure", [ast.Constant(number), name("@left"), name("@right") if pair else ast.Constant(None)] + message)
        before.append(ast.If(ast.UnaryOp(ast.Not(), question), [ast.Raise(failure, None)], []))
        for statement in before:
            ast.copy_location(statement, node)
            ast.fix_missing_locations(statement)
        return before


def called_name(node):
    func = getattr(node, "func", None)
    return getattr(func, "attr", getattr(func, "id", ""))


def looked(node, by=None, raised=False):
    """A statement that tells the judge that something was checked, by which function, and whether an error was to come."""
    by = name(by.func.id) if isinstance(by, ast.Call) and isinstance(by.func, ast.Name) else ast.Constant(None)
    return ast.fix_missing_locations(ast.copy_location(ast.Expr(call("looked", [by, ast.Constant(raised)])), node))


def name(text, store=False):
    return ast.Name(text, ast.Store() if store else ast.Load())


def call(method, arguments):
    return ast.Call(ast.Attribute(name("@judge"), method, ast.Load()), arguments, [])


class Judge:
    """Counts checks and words the failing one."""

    def __init__(self, guard, file_name, text):
        self.guard, self.file_name, self.lines = guard, file_name, text.split("\n")
        self.sites, self.count, self.failed = [], 0, None
        # The lines on which something is checked.
        self.check_lines = set()
        # How many of the checks hold things of the code's against each other.
        self.among_its_own = 0
        # Whether something other than an assert was checked, and whether an `all` or `any` had nothing to
        # look at.
        self.has_looked, self.is_vacuous = False, False
        self.ops = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
                    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}

    def looked(self, by, raised):
        """Something was checked, not by an assert; `by` is the function that did it, unless the code under test brings it."""
        guard = self.guard
        if guard.has_answered() and not self.is_vacuous and not guard.is_codes(by) and (guard.has_raised() or not raised):
            self.has_looked = True
        self.is_vacuous = False

    def all(self, items):
        return not self.any((not item for item in items))

    def any(self, items):
        self.is_vacuous = True
        for item in items:
            self.is_vacuous = False
            if item:
                return True
        return False

    def holds(self, number, pair, outcome, left, right):
        if pair:
            self.guard.comparison(left, right)
        found = self.guard.holds_such(outcome)
        if found is not None:
            raise End("tampered", "a `%s` object, which defines its own truth, was asserted" % found)
        is_vacuous, self.is_vacuous = self.is_vacuous, False
        if outcome:
            counts = self.guard.has_answered() and not is_vacuous and not self.sites[number].is_fixed
            self.count += counts
            self.among_its_own += counts and pair and self.guard.is_codes(left) and self.guard.is_codes(right)
            return True
        return False

    def failure(self, number, left, right, message=None):
        """The error to raise for a failing assert, with its wording kept beside it."""
        self.count += 1
        site = self.sites[number]
        test = site.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            one, other = self.text(test.left), self.text(test.comparators[0])
            sign = self.ops[type(test.ops[0])]
            if sign in ("==", "is") and isinstance(test.left, ast.Constant) and not isinstance(test.comparators[0], ast.Constant):
                one, left, right = other, right, left
            if sign in ("==", "is"):
                words = "%s gave %s, expected %s" % (one, show(left), show(right))
            else:
                words = "%s %s %s does not hold: left is %s, right is %s" % (one, sign, other, show(left), show(right))
        elif isinstance(test, ast.Call):
            words = "%s gave %s, expected something true" % (self.text(test), show(left))
        else:
            words = "%s does not hold" % self.text(test)
        if message is not None:
            words += ": " + shorten(message if type(message) is str else show(message))
        error = AssertionError(message) if message is not None else AssertionError()
        self.failed = (error, words + self.place(site.first))
        return error

    def is_in_a_check(self, error):
        """Whether an error came up in what the tests check, and not in what that calls."""
        line = line_in(error, self.file_name)
        return line is not None and line in self.check_lines

    def place(self, line):
        return " (%s:%d)" % (self.file_name, line)

    def text(self, node):
        """The source of an expression on one line."""
        lines = [line.encode() for line in self.lines[node.lineno - 1:node.end_lineno]]
        if not lines:
            return "?"
        lines[-1] = lines[-1][:node.end_col_offset]
        lines[0] = lines[0][node.col_offset:]
        return shorten(" ".join(b" ".join(lines).decode("utf-8", "replace").split()), 120)

    def describe(self, error, doing):
        """What to say about an error that came out of the tests."""
        if self.failed is not None and self.failed[0] is error:
            return self.failed[1]
        line = line_in(error, self.file_name)
        if line is None:
            return "%s raised %s" % (doing, show_error(error))
        at = [site for site in self.sites if site.first <= line <= site.last]
        what = self.text(at[-1].test) if at else shorten(self.lines[line - 1].strip() if line <= len(self.lines) else doing, 120)
        if type(error).__name__ in ("AssertionError", "Failed") and not at:
            return "%s failed: %s%s" % (doing, show_error(error), self.place(line))
        return "%s raised %s%s" % (what, show_error(error), self.place(line))


def bound_names(tree):
    """Every name that the tests themselves give a meaning to."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update((a.asname or a.name).partition(".")[0] for a in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            found.add(node.name)
    return found
