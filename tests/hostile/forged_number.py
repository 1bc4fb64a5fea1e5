# expect: failed tampered
# tests: assert f(lambda x: x + 1) == 6
# Calls things of the tests by numbers that were never given out.
import sys


def f(function):
    worker = sys._getframe(1)
    while "self" not in worker.f_locals or not hasattr(worker.f_locals["self"], "questions"):
        worker = worker.f_back
    worker = worker.f_locals["self"]
    for number in (1, 99, -1):
        try:
            worker.ask("call", number, (), {})
        except Exception:
            pass
    return 0
