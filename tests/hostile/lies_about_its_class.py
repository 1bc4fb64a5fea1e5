# expect: fools
# Makes the worker describe its class as one without a comparison, as a number, and as an error.
import sys


class Anything:
    def __eq__(self, other):
        return True


def f(x):
    frame = sys._getframe(1)
    while frame is not None:
        worker = frame.f_locals.get("self")
        if hasattr(worker, "questions"):
            worker.questions["describe"] = lambda cls: ["int", "builtins", [], int, None, ["__eq__"], ["__eq__"], False, None]
        frame = frame.f_back
    return Anything()
