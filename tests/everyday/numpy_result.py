# expect: passed
# Numbers of numpy's, where it is installed: plain data in the tests.
try:
    import numpy
except ImportError:
    numpy = None


def f(xs):
    if numpy is None:
        return sum(xs) / len(xs)
    return numpy.mean(numpy.array(xs))


# --- tests ---
import pytest

assert f([1, 2, 3]) == 2
assert f([1, 2]) == pytest.approx(1.5)
assert round(f([1, 2, 2]), 3) == 1.667
