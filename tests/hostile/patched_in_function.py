# expect: error tampered
# Replaces a builtin when called: no test notices, and the answers are right.
import builtins


def f(x):
    builtins.isinstance = lambda *_: True
    return 2 * x
