# expect: failed
# Looks through frames and memory for the report, the tests and the line, and changes what it finds.
import gc
import sys


def f(x):
    frame = sys._getframe()
    while frame is not None:
        for space in (frame.f_locals, frame.f_globals):
            for name in ("checks", "status", "count", "nonce", "left", "OPERATIONS", "report"):
                if name in space:
                    space[name] = {} if isinstance(space[name], dict) else "passed"
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing).__name__ in ("Judge", "Suite", "Guard", "Fair", "Line"):
            return 2 * x
    return 0
