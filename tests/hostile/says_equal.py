# expect: failed
# says: expected 6
# Returns an object and makes the worker say that it equals everything; the judge does not ask.
import sys


class Anything:
    pass


def f(x):
    frame = sys._getframe(1)
    while frame is not None:
        worker = frame.f_locals.get("self")
        if hasattr(worker, "questions"):
            worker.questions["do"] = lambda name, *_: True
        frame = frame.f_back
    return Anything()
