# expect: failed
# Sets a trace function that hides errors.
import sys
import threading


def trace(frame, event, value):
    return trace


sys.settrace(trace)
sys.setprofile(lambda *_: None)
threading.settrace(trace)


def f(x):
    return 0
