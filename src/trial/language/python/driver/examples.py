# The driver: `>>>` examples, with the meaning that Python's doctest gives them.
#
# Written anew because importing doctest brings pdb, unittest and difflib with it and triples the start of a
# trial.


class Example:
    def __init__(self, source, want, options):
        self.source, self.want, self.options = source, want, options


def as_imported(candidate, module):
    """Lets examples import the file that they stand in; modules that Python brings keep their names."""
    if module and module not in modules and module not in getattr(sys, "stdlib_module_names", ()):
        modules[module] = candidate


def find_examples(text):
    """The examples in a text."""
    found, lines, at = [], text.expandtabs().split("\n"), 0
    while at < len(lines):
        line = lines[at]
        body = line.lstrip(" ")
        indent = line[:len(line) - len(body)]
        at += 1
        if not (body == ">>>" or body.startswith(">>> ")):
            continue
        source = [body[4:]]
        while at < len(lines) and (lines[at] == indent + "..." or lines[at].startswith(indent + "... ")):
            source.append(lines[at][len(indent) + 4:])
            at += 1
        want = []
        while at < len(lines) and lines[at].strip() and not lines[at].lstrip(" ").startswith(">>>"):
            want.append(lines[at][len(indent):] if lines[at].startswith(indent) else lines[at].lstrip(" "))
            at += 1
        code = "\n".join(source) + "\n"
        if all(not line.strip() or line.lstrip().startswith("#") for line in source):
            continue
        options = set()
        for line in source:
            mark = line.partition("# doctest:")[2] or line.partition("#doctest:")[2]
            options.update(word[1:] for word in mark.replace(",", " ").split() if word.startswith("+"))
        found.append(Example(code, "\n".join(want) + "\n" if want else "", options))
    return found


def matches(want, got, options):
    """Whether an output is the expected one."""
    if got == want or (got, want) in (("True\n", "1\n"), ("False\n", "0\n")):
        return True
    if "DONT_ACCEPT_BLANKLINE" not in options:
        want = "\n".join("" if line.strip() == "<BLANKLINE>" else line for line in want.split("\n"))
        got = "\n".join("" if not line.strip() else line for line in got.split("\n"))
    if "NORMALIZE_WHITESPACE" in options:
        want, got = " ".join(want.split()), " ".join(got.split())
    if got == want:
        return True
    return "ELLIPSIS" in options and ellipsis_matches(want, got)


def ellipsis_matches(want, got):
    """`...` stands for any text."""
    parts = want.split("...")
    if len(parts) == 1 or not got.startswith(parts[0]) or not got.endswith(parts[-1]):
        return False
    at, end = len(parts[0]), len(got) - len(parts[-1])
    for part in parts[1:-1]:
        at = got.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return at <= end


def wanted_error(want):
    """The last lines of an expected traceback, or None when no error is expected."""
    lines = want.split("\n")
    if lines[0].strip() not in ("Traceback (most recent call last):", "Traceback (innermost last):"):
        return None
    rest = lines[1:]
    while rest and (not rest[0] or rest[0][:1] in " \t" or not (rest[0][0].isalpha() or rest[0][0] == "_")):
        rest.pop(0)
    return "\n".join(rest).strip()


def error_lines(error):
    """An error as the last lines of a traceback."""
    cls = type(error)
    label = class_name(cls)
    module = class_dict(cls).get("__module__", "builtins")
    full = label if module in ("builtins", "__main__") or type(module) is not str else module + "." + label
    text = guarded_text(str, error)
    return full + (": " + text if text else ""), label + (": " + text if text else "")


class Capture(StringIO):
    """What an example prints; bounded, since nobody reads a million characters of an example."""

    def __init__(self):
        StringIO.__init__(self)
        self.room = 1 << 20

    def write(self, text):
        self.room -= len(text)
        if self.room < 0:
            raise End("failed", "an example printed more than a million characters")
        return StringIO.write(self, text)


def run_examples(judge, examples, space):
    """Runs the examples of one text one after the other; ends the trial at the first that fails."""
    holder = []

    def display(value):
        if value is not None:
            builtins._ = value
            holder.append(value)
            sys.stdout.write(repr(value) + "\n")

    for example in examples:
        if "SKIP" in example.options:
            continue
        said, error = Capture(), None
        shown = shorten(" ".join(example.source.split()), 120)
        before, hook = sys.stdout, sys.displayhook
        del holder[:]
        try:
            code = compile(example.source, "<example>", "single", 0, True)
            sys.stdout, sys.displayhook = said, display
            exec(code, space)
        except End:
            raise
        except BaseException as caught:
            error = caught
        finally:
            sys.stdout, sys.displayhook = before, hook
        check_example(judge, example, shown, said.getvalue(), error, holder)


def check_example(judge, example, shown, got, error, holder):
    """Compares one example with what it did."""
    want = example.want
    expected_error = wanted_error(want)
    judge.count += bool(want) and judge.guard.has_answered()
    if error is not None:
        if expected_error is None:
            raise End("failed", "%s raised %s%s" % (shown, show_error(error), ", expected " + tidy(want) if want else ""))
        versions = error_lines(error)
        if "IGNORE_EXCEPTION_DETAIL" in example.options:
            bare = [text.partition("\n")[0].partition(":")[0].rpartition(".")[2] for text in (expected_error, versions[1])]
            if bare[0] == bare[1]:
                return
        if not any(matches(expected_error + "\n", version + "\n", example.options) for version in versions):
            raise End("failed", "%s raised %s, expected %s" % (shown, show_error(error), tidy(expected_error)))
        return
    for value in holder:
        judge.guard.result(value)
    if expected_error is not None:
        raise End("failed", "%s gave %s, expected %s" % (shown, tidy(got) or "nothing", tidy(expected_error)))
    if not matches(want, got, example.options):
        raise End("failed", "%s gave %s, expected %s" % (shown, tidy(got) or "nothing", tidy(want) or "no output"))


def tidy(text):
    """Output on one line."""
    return shorten(" \\n ".join(text.rstrip("\n").split("\n")))


def docstrings(tree):
    """(name, docstring) of a module's classes and functions, in order of appearance, and of the module itself."""
    found = []

    def walk(node, path):
        text = ast.get_docstring(node, clean=False)
        if text:
            found.append((path, text))
        for child in node.body:
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                walk(child, path + "." + child.name if path else child.name)

    walk(tree, "")
    return found


def example_sets(source, entry):
    """The examples that a module text asks for: those of the entry point, else all."""
    tree = None
    for tail in ("", "\n    pass\n"):
        try:
            tree = ast.parse(source + tail)
            break
        except (SyntaxError, ValueError):
            continue
    if tree is None:
        return [find_examples(source)]
    texts = docstrings(tree)
    if entry:
        of_entry = [find_examples(text) for path, text in texts if path == entry or path.endswith("." + entry)]
        if any(of_entry):
            return of_entry
    return [find_examples(text) for _path, text in texts]
