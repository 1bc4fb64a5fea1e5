# expect: failed
# tests: assert abs(f(3) - 6) == 0 and all([f(3) == 6])
# Defines `abs`, `all` and `AssertionError` beside the function.
def abs(_):
    return 0


def all(_):
    return True


class AssertionError(Exception):
    pass


def f(x):
    return 0
