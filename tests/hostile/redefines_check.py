# expect: failed
# Brings a `check` of its own.
def check(candidate):
    return True


def test_f():
    pass


def f(x):
    return 0
