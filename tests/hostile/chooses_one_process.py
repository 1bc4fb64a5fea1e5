# expect: failed
# says: expected 6
# Returns what no process can send to another: that must not lead to one process for tests and code.
import sys
import threading


def f(x):
    return [sys._getframe(), threading.Lock(), open("mine", "w"), (i for i in ()), sys.modules[__name__], f.__code__, type]
