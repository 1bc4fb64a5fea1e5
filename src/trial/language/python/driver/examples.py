# The driver: examples in documentation, which doctest runs.
from re import sub


def docstring(source, function):
    """The docstring of a function or class in a module's text, or of the module for no name, and the line it begins on.
    Of what is not there `None`."""
    node = ast.parse(source)
    body = node.body
    for part in filter(None, function.split(".")):
        nodes = [n for n in body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and n.name == part]
        if not nodes:
            return None, 0
        node = nodes[-1]
        body = node.body
    return ast.get_docstring(node, clean=False) or "", getattr(node, "lineno", 0)


def words_of_example(failure):
    example = failure.example
    got, want = getattr(failure, "got", ""), example.want
    raised = "Traceback (most recent call last):"
    if not hasattr(failure, "got"):
        gave = "raised %s" % show_error(failure.exc_info[1])
    elif got.startswith(raised):
        gave = "raised %s" % shorten(got.rstrip().split("\n")[-1])
    else:
        gave = "gave %s" % (shorten(got) or "nothing")
    want = example.exc_msg if example.exc_msg is not None else want
    source = sub(r"[ \t]*#[ \t]*doctest:[^\n]*", "", example.source)
    return "%s %s, expected %s" % (shorten(source), gave, shorten(want) or "nothing")


def is_asked(run, test):
    """True if these examples count: those of the function under test, or all of its file where its project runs them. They
    are taken from the user's text."""
    import doctest
    function, source = run.function, run.request["source"]
    if source is None or function is None:
        return True
    if run.request["all_examples"]:
        function = test.name[len(test.globs["__name__"]) + 1:]
    elif test.name != function and not test.name.endswith("." + function):
        return False
    text, first = docstring(source, function)
    if text is not None or not run.request["all_examples"]:
        test.examples, test.lineno = doctest.DocTestParser().get_examples(text or "", test.name), first
    return bool(test.examples)


def example_runner(run):
    import doctest
    run.runner = run.runner or "doctest"

    class Checker(doctest.OutputChecker):
        """An exception may be named without its module: these are examples for readers, which their project never runs."""
        example = None

        def check_output(self, want, got, flags):
            is_raised = self.example is not None and self.example.exc_msg == want
            return super().check_output(want, sub(r"^[\w.]+\.(?=\w+(:|$))", "", got) if is_raised and "." not in want.split(":")[0] else got, flags)

    class Runner(doctest.DocTestRunner):
        def report_start(self, out, test, example):
            self._checker.example = example

        def report_failure(self, out, test, example, got):
            run.note(test.name, "failed", words_of_example(doctest.DocTestFailure(test, example, got)))

        def report_unexpected_exception(self, out, test, example, error):
            run.arose(test.name, error[1])
            run.note(test.name, "failed", words_of_example(doctest.UnexpectedException(test, example, error)))

    def go(test):
        run.begin(test.name)
        run.tests[test.name] = ("passed", "")
        Runner(Checker(), verbose=False).run(test, out=lambda text: None, clear_globs=False)
        run.end(test.name)
    return go


def examples_in(run, module):
    """Runs the examples in the docstrings of a module."""
    import doctest
    go = example_runner(run)
    found = [test for test in doctest.DocTestFinder().find(module) if is_asked(run, test) and test.examples]
    spaces = [dict(test.globs) for test in found]
    for test in found:
        go(test)

    def again(reached):
        for test, space in zip(found, spaces):
            test.globs = space
            if test.name in reached:
                go(test)
    return again


def examples_of_text(run, text):
    """The examples of a text that is no module."""
    import doctest
    go = example_runner(run)
    space = dict(vars(module_of(run.request["file"])))
    test = doctest.DocTestParser().get_doctest(text, space, os.path.basename(run.path), run.path, 0)
    if test.examples:
        go(test)
