# expect: passed killed error
# Empties the list of loaded modules.
import sys

sys.modules.clear()


def f(x):
    return 2 * x
