# expect: failed error
# tests: assert len('123456') == f(3) == 6
# Replaces builtins and the error of failing asserts: in its own process, where no test runs.
import builtins

builtins.AssertionError = type("AssertionError", (BaseException,), {})
builtins.len = lambda value: 6


def f(x):
    return 0
