# expect: failed
# Leaves with 0 in an exit hook.
import atexit
import os

atexit.register(lambda: os._exit(0))


def f(x):
    return 0
