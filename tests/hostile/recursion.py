# expect: killed failed timeout
# Recurses without end with the guard taken away.
import sys

sys.setrecursionlimit(1 << 30)


def f(x):
    return f(x) + 1
