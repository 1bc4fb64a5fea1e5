# expect: failed
# tests: assert f(lambda x: x + 1) == 6
# Uses a function of the tests to reach what lies behind it, and calls numbers that were never given out.
import sys


def f(function):
    worker = sys._getframe(1)
    while "self" not in worker.f_locals or not hasattr(worker.f_locals["self"], "questions"):
        worker = worker.f_back
    worker = worker.f_locals["self"]
    for question in (("get", 0, "__globals__"), ("get", 0, "__code__"), ("do", "__getattribute__", 0, "__globals__"),
                     ("do", "__class__", 0), ("set", 0, "__code__", None), ("get", 0, "__closure__")):
        try:
            worker.ask(*question)
            return 6
        except (AttributeError, TypeError, KeyError):
            pass
    return function(1)
