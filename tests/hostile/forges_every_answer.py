# expect: failed
# Takes the line over and answers every question by itself, comparisons with yes.
import json
import os
import sys


class Anything:
    pass


def f(x):
    worker = sys._getframe(1)
    while "self" not in worker.f_locals or not hasattr(worker.f_locals["self"], "questions"):
        worker = worker.f_back
    worker = worker.f_locals["self"]
    worker.questions["do"] = lambda name, *_: True if name in ("__eq__", "__ne__") else "6"
    return 0 if x == 3 else Anything()
