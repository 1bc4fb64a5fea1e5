# A member that the user's enumeration does not have.
from enum import Enum


class Color(Enum):
    RED = 1
    GREEN = 2


# --- body ---
import sys


def line():
    frame = sys._getframe(1)
    while not hasattr(frame.f_locals.get("self"), "questions"):
        frame = frame.f_back
    return frame.f_locals["self"]


def f(x):
    worker, send = line(), line().send
    worker.send = lambda message: send(["!", False, ["n", "Color", "BLUE", 3], [], ["", []], [], [], [], []])
    return 0


# --- tests ---
assert f(1) == Color.RED
