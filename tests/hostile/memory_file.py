# expect: passed
# Memory that no limit counts is refused.
import os


def f(x):
    try:
        os.memfd_create("m")
    except OSError:
        return 2 * x
