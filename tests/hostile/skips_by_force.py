# expect: failed tampered
# tests: import unittest; assert f(3) == 6
# Says that its error is one with which unittest skips a test.
import sys


def f(x):
    worker = sys._getframe(1)
    while not hasattr(worker.f_locals.get("self"), "questions"):
        worker = worker.f_back
    worker.f_locals["self"].error_class = lambda kind: ["y", "unittest.case", "SkipTest", 0]
    raise ValueError("no")
