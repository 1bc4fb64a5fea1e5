# The driver: asserts that count themselves and can say what they saw.
#
# `assert a == b, m` becomes: evaluate a and b once, keep both, ask the judge. Names that begin with @ cannot be written in Python,
# so they meet no name of the tests or of the candidate.


class Site:
    """Where an assert stands in the tests."""

    def __init__(self, node):
        self.first, self.last, self.test = node.lineno, node.end_lineno, node.test


class Rewriter(ast.NodeTransformer):
    """Turns every assert into a question to the judge."""

    def __init__(self, sites):
        self.sites = sites

    def visit_Assert(self, node):
        self.generic_visit(node)
        number = len(self.sites)
        self.sites.append(Site(node))
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left, right, outcome = (name("@left"), name("@right"), ast.Compare(name("@left"), test.ops, [name("@right")]))
            before = [ast.Assign([name("@left", True)], test.left), ast.Assign([name("@right", True)], test.comparators[0])]
        else:
            left, right, outcome = ast.Constant(None), ast.Constant(None), name("@left")
            before = [ast.Assign([name("@left", True)], test)]
        pair = isinstance(outcome, ast.Compare)
        question = call("holds", [ast.Constant(pair), outcome, left, right])
        message = [] if node.msg is None else [node.msg]
        failure = call("failure", [ast.Constant(number), name("@left"), name("@right") if pair else ast.Constant(None)] + message)
        before.append(ast.If(ast.UnaryOp(ast.Not(), question), [ast.Raise(failure, None)], []))
        for statement in before:
            ast.copy_location(statement, node)
            ast.fix_missing_locations(statement)
        return before


def name(text, store=False):
    return ast.Name(text, ast.Store() if store else ast.Load())


def call(method, arguments):
    return ast.Call(ast.Attribute(name("@judge"), method, ast.Load()), arguments, [])


class Judge:
    """Counts checks and words the failing one."""

    def __init__(self, guard, file_name, text):
        self.guard, self.file_name, self.lines = guard, file_name, text.split("\n")
        self.sites, self.count, self.failed = [], 0, None
        self.ops = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
                    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"}

    def holds(self, pair, outcome, left, right):
        if pair:
            self.guard.comparison(left, right)
        found = self.guard.holds_such(outcome)
        if found is not None:
            raise End("tampered", "a `%s` object, which defines its own truth, was asserted" % found)
        if outcome:
            self.count += 1
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
