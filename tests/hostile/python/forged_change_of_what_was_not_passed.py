# Changes a container that was not passed.
import sys


def line():
    frame = sys._getframe(1)
    while not hasattr(frame.f_locals.get("self"), "questions"):
        frame = frame.f_back
    return frame.f_locals["self"]


def f(x):
    worker, send = line(), line().send
    worker.send = lambda message: send(["!", False, 0, [[0, 6], [1, 6], [2, 0]], ["", []], [], [], [], []])
    return 0


# --- tests ---
expected = [6]
assert [f([3])] == expected
