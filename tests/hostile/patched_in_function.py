# expect: tampered
# says: isinstance
# Replaces a builtin only when called.
import builtins


def f(x):
    builtins.isinstance = lambda *_: True
    return 2 * x
